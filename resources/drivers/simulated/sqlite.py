"""What a simulated cluster remembers, on disk: one SQLite file that every process of the portal may use at once.

A transaction is there whole or not at all, wherever its process is killed. Each process keeps a copy of the workloads
in memory and reads only what others have changed since; a child process opens the file anew.
"""

import json
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from portal.lib.failpoints import failpoint
from resources.drivers.base import DriverUnavailable

from .faults import Fault, Faults
from .records import NO_FENCE, Applied, Fence, read_applied, write_applied
from .store import State, with_fault

FILE = "world.sqlite3"
_PATIENCE_S = 10.0
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS pods (name TEXT PRIMARY KEY, revision INTEGER NOT NULL, body TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS pods_revision ON pods (revision)",
    "CREATE TABLE IF NOT EXISTS fences (job_id TEXT PRIMARY KEY, generation INTEGER, attempt_id TEXT, closed INTEGER)",
    "CREATE TABLE IF NOT EXISTS hints (key TEXT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS faults (key INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL)",
    "INSERT OR IGNORE INTO meta VALUES ('revision', 0), ('faults', 0)",
    "PRAGMA user_version = 1",
)
_PUT = (
    "INSERT INTO pods VALUES (?, ?, ?) "
    "ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, body = excluded.body"
)
_stores: "weakref.WeakSet[SqliteStore]" = weakref.WeakSet()
_abandoned: list[sqlite3.Connection] = []
"""Connections of a parent process: SQLite forbids even closing them in a child."""


class SqliteStore:
    """A store below `folder`. Several, in one process or in many, may share the folder."""

    _revision: int
    """The newest change of workloads in the copy."""
    _faults: int
    """The newest change of faults in the copy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begin()
        _stores.add(self)

    def read(self) -> State:
        """See `Store.read`."""
        with self._lock, _spoken():
            self._refresh()
            return self._state

    @contextmanager
    def write(self) -> Iterator["SqliteTransaction"]:
        """See `Store.write`."""
        with self._lock, _spoken():
            connection = self._connection()
            with _saved(connection) if self._held else _committed(connection):
                self._refresh()
                transaction = SqliteTransaction(connection, self._state)
                yield transaction
                failpoint("simulated.store.before_commit")
            self._publish(transaction)
            failpoint("simulated.store.after_commit")

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """See `Store.deferred`. Others that want to change something wait until then, and may give up."""
        with self._lock, _spoken():
            connection = self._connection()
            self._held = True
            try:
                with _committed(connection):
                    yield
            except BaseException:
                self._seen = -1  # the copy has learnt what the file has not
                raise
            finally:
                self._held = False

    def wipe(self) -> None:
        """Forget everything, as if nothing had ever run here; only while nobody else uses the folder."""
        with self._lock, _spoken():
            if self._open is not None:
                self._open.close()
            self._begin()
            for end in ("", "-wal", "-shm"):
                (self._folder / f"{FILE}{end}").unlink(missing_ok=True)

    def _publish(self, transaction: "SqliteTransaction") -> None:
        """Let the copy in memory know what is in the file now."""
        for name, record in transaction.changed.items():
            if record is None:
                self._state.drop(name)
            else:
                self._state.put(record)
        self._state.faults = transaction.faults
        self._revision = transaction.revision or self._revision
        self._faults = transaction.faults_revision or self._faults

    def _begin(self) -> None:
        """As if nothing had been opened or read."""
        self._lock = threading.RLock()
        self._open: sqlite3.Connection | None = None
        self._held = False
        self._state = State()
        self._seen = -1
        self._revision = self._faults = -1

    def _leave_to_parent(self) -> None:
        if self._open is not None:
            _abandoned.append(self._open)
        self._begin()

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = _connect(self._folder)
        return self._open

    def _refresh(self) -> None:
        """Bring the copy in step with the file; nearly free when nobody else has changed it."""
        connection = self._connection()
        if connection.in_transaction:
            self._read_changes(connection)
        elif _scalar(connection, "PRAGMA data_version") != self._seen:
            connection.execute("BEGIN")
            try:
                self._read_changes(connection)
            finally:
                connection.execute("COMMIT")

    def _read_changes(self, connection: sqlite3.Connection) -> None:
        version = _scalar(connection, "PRAGMA data_version")
        if version == self._seen:
            return
        if self._seen == -1:
            self._state = State()
            self._revision = self._faults = -1
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        changed = connection.execute("SELECT body FROM pods WHERE revision > ?", (self._revision,))
        for (body,) in changed.fetchall():
            self._state.put(read_applied(body))
        if _scalar(connection, "SELECT count(*) FROM pods") != len(self._state.records):
            names = {name for (name,) in connection.execute("SELECT name FROM pods")}
            for name in [name for name in self._state.records if name not in names]:
                self._state.drop(name)
        if meta["faults"] != self._faults:
            rows = connection.execute("SELECT body FROM faults ORDER BY key").fetchall()
            self._state.faults = Faults(tuple(Fault.from_json(json.loads(body)) for (body,) in rows))
        self._seen, self._revision, self._faults = version, meta["revision"], meta["faults"]


class SqliteTransaction:
    """Changes on the way into the file; the copy in memory learns of them once they are in."""

    def __init__(self, connection: sqlite3.Connection, state: State) -> None:
        self._connection = connection
        self._state = state
        self.changed: dict[str, Applied | None] = {}
        self.faults = state.faults
        self.revision: int | None = None
        self.faults_revision: int | None = None

    @property
    def state(self) -> State:
        """See `Transaction.state`."""
        return self._state

    def put(self, record: Applied) -> None:
        """See `Transaction.put`."""
        if self.revision is None:
            self.revision = self._next("revision")
        self._connection.execute(_PUT, (record.name, self.revision, write_applied(record)))
        self.changed[record.name] = record

    def remove(self, name: str) -> None:
        """See `Transaction.remove`."""
        self._connection.execute("DELETE FROM pods WHERE name = ?", (name,))
        self.changed[name] = None

    def fence(self, job_id: str) -> Fence:
        """See `Transaction.fence`."""
        query = "SELECT generation, attempt_id, closed FROM fences WHERE job_id = ?"
        row = self._connection.execute(query, (job_id,)).fetchone()
        return Fence(row[0], row[1], bool(row[2])) if row else NO_FENCE

    def set_fence(self, job_id: str, fence: Fence) -> None:
        """See `Transaction.set_fence`."""
        row = (job_id, fence.generation, fence.attempt_id, int(fence.closed))
        self._connection.execute("INSERT OR REPLACE INTO fences VALUES (?, ?, ?, ?)", row)

    def hints(self, *keys: str) -> Mapping[str, Any]:
        """See `Transaction.hints`."""
        found: dict[str, Any] = {}
        for key in keys:
            row = self._connection.execute("SELECT body FROM hints WHERE key = ?", (key,)).fetchone()
            found |= json.loads(row[0]) if row else {}
        return found

    def set_hints(self, key: str, hints: Mapping[str, Any]) -> None:
        """See `Transaction.set_hints`."""
        self._connection.execute("INSERT OR REPLACE INTO hints VALUES (?, ?)", (key, json.dumps(dict(hints))))

    def add_fault(self, fault: Fault) -> Fault:
        """See `Transaction.add_fault`."""
        cursor = self._connection.execute("INSERT INTO faults (body) VALUES ('')")
        keyed = replace(fault, key=cursor.lastrowid or 0)
        self.change_fault(keyed)
        return keyed

    def change_fault(self, fault: Fault) -> None:
        """See `Transaction.change_fault`."""
        row = (json.dumps(fault.to_json()), fault.key)
        self._connection.execute("UPDATE faults SET body = ? WHERE key = ?", row)
        self.faults_revision = self._next("faults")
        self.faults = with_fault(self.faults, fault)

    def _next(self, counter: str) -> int:
        query = "UPDATE meta SET value = value + 1 WHERE key = ? RETURNING value"
        return int(self._connection.execute(query, (counter,)).fetchone()[0])


def _connect(folder: Path) -> sqlite3.Connection:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(
        folder / FILE, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False, cached_statements=64
    )
    _use_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    if _scalar(connection, "PRAGMA user_version") == 0:  # else whoever writes just now need not be waited for
        with _committed(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
    return connection


@contextmanager
def _committed(connection: sqlite3.Connection) -> Iterator[None]:
    """The whole block or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _saved(connection: sqlite3.Connection) -> Iterator[None]:
    """The whole block or nothing of it, inside a larger one."""
    connection.execute("SAVEPOINT one")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK TO one")
        raise
    finally:
        connection.execute("RELEASE one")


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and one writer side by side. Changing to it does not wait for others by itself, so we do."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)


@contextmanager
def _spoken() -> Iterator[None]:
    """A failure of the file in the words of a driver."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise DriverUnavailable(f"the simulated cluster's memory: {error}", reason="StoreFailed") from error


def _scalar(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _forked() -> None:
    for store in list(_stores):
        store._leave_to_parent()


os.register_at_fork(after_in_child=_forked)
