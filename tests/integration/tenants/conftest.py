"""The cast at noon of their day, and a browser without a browser."""

from tests.cast import cast, cast_rows
from tests.integration.pages.conftest import as_user, noon

__all__ = ["as_user", "cast", "cast_rows", "noon"]
