"""The cast at noon of their day, and a browser without a browser."""

from collections.abc import Callable, Iterator

import pytest
import time_machine
from django.core.cache import cache
from django.test import Client

from tenants.models import User
from tests.builders import NOW
from tests.cast import cast, cast_rows

__all__ = ["as_user", "cast", "cast_rows"]


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """The wall clock stands still at `NOW`; tries of other tests are forgotten."""
    cache.clear()
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """A client signed in as that person."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in
