"""What really happened: rows of the running portal's database, and the bytes of its state folder."""

import hashlib
import json
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from portal.embedded.servers import DATABASE_URL
from portal.embedded.stack import Stack


def rows(stack: Stack, statement: str, *values: object) -> list[dict[str, Any]]:
    """The rows of one statement, each by column name."""
    with psycopg.connect(stack.environment[DATABASE_URL], row_factory=dict_row) as connection:
        return connection.execute(statement.encode(), values).fetchall()


def artifact(stack: Stack, job: str, name: str) -> Path:
    """Where a file of a job lies."""
    [row] = rows(stack, "SELECT location FROM jobs_artifact WHERE job_id = %s AND name = %s", job, name)
    return Path(row["location"])


def content(stack: Stack, job: str, name: str) -> dict[str, Any]:
    """A JSON file of a job."""
    found: dict[str, Any] = json.loads(artifact(stack, job, name).read_bytes())
    return found


def digest(path: Path) -> str:
    """SHA-256 of a file, or of a folder's sorted lines `path NUL digest LF`; by no code of the portal."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    listing = hashlib.sha256()
    for file in sorted(inner for inner in path.rglob("*") if inner.is_file()):
        listing.update(f"{file.relative_to(path).as_posix()}\0{digest(file)}\n".encode())
    return listing.hexdigest()
