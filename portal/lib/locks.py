"""PostgreSQL advisory locks: one cycle at a time, one reconcile per cluster, one audit chain."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


def lock_key(name: str) -> int:
    """A stable signed 64-bit key of a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


@contextmanager
def try_session_lock(name: str) -> Iterator[bool]:
    """True when this connection holds the lock until the block ends; False when another one does.

    Held by the session, so it spans several transactions and ends with a killed process.
    """
    key = lock_key(name)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [key])
        row = cursor.fetchone()
    held = bool(row and row[0])
    try:
        yield held
    finally:
        if held and connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [key])


def hold_until_commit(name: str) -> None:
    """Wait for the lock and keep it until the transaction ends."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("hold_until_commit needs a transaction")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [lock_key(name)])
