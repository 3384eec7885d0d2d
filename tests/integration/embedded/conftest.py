"""State folders of their own: these tests never touch the servers of the pytest run."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from portal.embedded.paths import StateFolder


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    """An empty state folder."""
    folder = StateFolder(tmp_path / "state")
    folder.create()
    return folder


@pytest.fixture(scope="module")
def bare_environment() -> Iterator[Mapping[str, str]]:
    """The environment without any PORTAL_* variable, as on a new user's machine."""
    yield {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
