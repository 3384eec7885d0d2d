"""The cast, and a browser without a browser."""

from collections.abc import Callable

import pytest
from django.test import Client

from tenants.models import User
from tests.cast import cast, cast_rows

__all__ = ["as_user", "cast", "cast_rows"]


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """A client signed in as that person."""

    def sign_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return sign_in
