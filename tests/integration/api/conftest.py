"""The cast at noon of their day, with tokens in their hands, and the templates that come with the product."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client

from jobs.services.publish_shipped_templates import publish_shipped_templates
from tenants.models import User
from tenants.services.create_token import create_token
from tests.builders import NOW
from tests.cast import Cast, cast, cast_rows

__all__ = ["Api", "As", "cast", "cast_rows"]
ROOT = "/api/v1"


@dataclass
class Api:
    """Somebody who speaks to the API with a token; without one, anonymously. Paths are below /api/v1."""

    client: Client
    headers: dict[str, str]

    def get(self, path: str, query: dict[str, Any] | None = None, **headers: str) -> HttpResponse:
        """GET with a query."""
        return self.client.get(ROOT + path, query or {}, headers=self.headers | headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """POST a JSON body, or none."""
        return self.raw(path, b"" if body is None else json.dumps(body).encode(), **headers)

    def raw(self, path: str, body: bytes, content_type: str = "application/json", **headers: str) -> HttpResponse:
        """POST bytes as they are."""
        return self.client.post(ROOT + path, data=body, content_type=content_type, headers=self.headers | headers)

    def delete(self, path: str, **headers: str) -> HttpResponse:
        """DELETE."""
        return self.client.delete(ROOT + path, headers=self.headers | headers)


As = Callable[[User | None], Api]


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """The wall clock stands still at `NOW`; tries of other tests are forgotten."""
    cache.clear()
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def as_user(db: None) -> As:
    """Somebody with a token of their own, or nobody."""

    def speak(user: User | None) -> Api:
        if user is None:
            return Api(Client(), {})
        _token, clear = create_token(user=user, name="tests", now=NOW)
        return Api(Client(), {"Authorization": f"Bearer {clear}"})

    return speak


@pytest.fixture
def templates(db: None) -> None:
    """The shipped templates."""
    publish_shipped_templates(now=NOW)


@pytest.fixture
def wanted(cast: Cast, templates: None) -> dict[str, Any]:
    """The least that a submit must say, for project alpha."""
    return {"template": "run-operation", "project": str(cast.alpha.pk)}
