"""What the tests of this folder look at: databases, processes, waiting."""

import contextlib
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil
import psycopg
from psycopg.rows import TupleRow

from portal.embedded.process import ProcessId
from portal.embedded.servers import OWNER_URL


def query(url: str, statement: str) -> list[TupleRow]:
    """The rows of one statement in a connection and a transaction of its own."""
    with psycopg.connect(url) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def owner_query(environment: Mapping[str, str], statement: str) -> list[TupleRow]:
    """The same as the role that owns the tables."""
    return query(environment[OWNER_URL], statement)


def eventually(condition: Callable[[], bool], *, within: float) -> bool:
    """Whether the condition becomes true in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def descendants(pid: int) -> set[ProcessId]:
    """The process and everything below it."""
    try:
        top = psutil.Process(pid)
        found = [ProcessId.of(process.pid) for process in (top, *top.children(recursive=True))]
    except psutil.NoSuchProcess:  # it is just being replaced
        return set()
    return {process for process in found if process}


def processes_of(state: Path) -> list[str]:
    """The commands of all live processes that were started for the state folder."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            belongs = process.environ().get("PORTAL_STATE_DIR") == str(state)
            if belongs and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
    return found


def commands_with(text: str) -> list[str]:
    """The commands of all live processes with that text in them."""
    commands = (" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
    return [command for command in commands if text in command]
