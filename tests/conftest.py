"""What holds for every test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db.backends.postgresql.operations import DatabaseOperations
from django.utils import translation
from hypothesis import settings

TESTS = Path(__file__).parent
# Few examples while working; where CI is set, Hypothesis takes its own profile of the same on every run, and more.
settings.register_profile("everyday", max_examples=25, deadline=None)
if "CI" not in os.environ:
    settings.load_profile("everyday")

# Passwords are digested as in the product, at the least cost that Argon2 allows: a hundred tests make one.
Argon2PasswordHasher.time_cost, Argon2PasswordHasher.memory_cost, Argon2PasswordHasher.parallelism = 1, 8, 1

# Browser tests leave an event loop in the thread that later tests of the same process use the database from.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


FIRST = ("cluster", "integration", "e2e", "scenarios", "unit")
"""Long files before short ones, so that two workers end together; what a browser needs is not kept waiting longer."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order the folders; within one, everything stays as it was found."""
    places = {name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.relative_to(TESTS).parts[0], len(FIRST)))


@pytest.fixture(autouse=True, scope="session")
def _flush_past_the_audit_trigger() -> Iterator[None]:
    """Tests that commit are cleaned up by TRUNCATE, which the audit trail's trigger refuses, as it should."""
    original = DatabaseOperations.execute_sql_flush

    def flush(self: DatabaseOperations, sql_list: list[str]) -> None:
        trigger = "ALTER TABLE tenants_auditevent {} TRIGGER audit_no_truncate"
        # Partitions are tables that Django does not list, and hold foreign keys of their own.
        wide = [sql.replace(";", " CASCADE;") if sql.startswith("TRUNCATE") else sql for sql in sql_list]
        original(self, [trigger.format("DISABLE"), *wide, trigger.format("ENABLE")])

    DatabaseOperations.execute_sql_flush = flush
    yield
    DatabaseOperations.execute_sql_flush = original


@pytest.fixture(autouse=True)
def _no_language_of_the_test_before() -> None:
    """A page that was read in Chinese leaves its language in the thread."""
    translation.deactivate()
