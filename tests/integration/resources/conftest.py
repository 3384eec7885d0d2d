"""The cast at noon of their day, and a person who goes through the two steps of a change."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client

from tenants.models import User
from tests.builders import NOW
from tests.cast import cast, cast_rows

__all__ = ["Person", "as_user", "cast", "cast_rows"]


@dataclass
class Person:
    """Somebody signed in, who reads pages as text."""

    client: Client

    def page(self, path: str, status: int = 200) -> str:
        """A page as it is sent."""
        answer = self.client.get(path)
        assert answer.status_code == status, answer.content.decode()[:2_000]
        return unescape(answer.content.decode())

    def send(self, path: str, status: int, **values: Any) -> str:
        """What answers a form."""
        answer = self.client.post(path, values)
        assert answer.status_code == status, unescape(answer.content.decode())[:4_000]
        return unescape(answer.content.decode())

    def preview(self, path: str, **values: Any) -> str:
        """The second step of a change: old and new, and what follows."""
        return self.send(path, 200, step="preview", digest=digest_of(self.page(path)), **values)

    def save(self, path: str, status: int = 302, *, reason: str = "Because.", **values: Any) -> str:
        """All steps of a change."""
        digest = digest_of(self.preview(path, **values))
        return self.send(path, status, step="save", digest=digest, reason=reason, **values)


def digest_of(page: str) -> str:
    """What a form was shown with."""
    found = re.search(r'name="digest" value="([0-9a-f]*)"', page)
    assert found, page[-3_000:]
    return found[1]


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """The wall clock stands still at `NOW`."""
    cache.clear()
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def as_user() -> Callable[[User], Person]:
    """Somebody signed in."""

    def sign_in(user: User) -> Person:
        client = Client()
        client.force_login(user)
        return Person(client)

    return sign_in
