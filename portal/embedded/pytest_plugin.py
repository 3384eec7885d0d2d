"""Real PostgreSQL and Valkey for one pytest run: `addopts = "-p portal.embedded.pytest_plugin"`.

They start before pytest-django reads the settings, which is before any conftest.py. xdist workers inherit
them.
"""

import os
from collections.abc import Generator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from portal.embedded.paths import CHECKOUT
from portal.embedded.servers import DATABASE_URL, OWNER_URL, REDIS_URL, running_servers
from portal.embedded.temporary import temporary_state

UNIT_TESTS = CHECKOUT / "tests" / "unit"
SETTINGS_OF_THE_CALLER = (
    "PORTAL_ALLOWED_HOSTS",
    "PORTAL_BIND",
    "PORTAL_CLUSTER_NETWORKS",
    "PORTAL_DEBUG",
    "PORTAL_EMBEDDED",
    "PORTAL_TRUSTED_ORIGINS",
    "PORTAL_VAULT_KEY",
)
TEST_SETTINGS = {"PORTAL_MODE": "test", "PORTAL_SECRET_KEY": "only-for-tests-" + "0123456789abcdef" * 4}

_servers = ExitStack()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Start the servers and point the settings at them, unless only unit tests were asked for."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        os.environ[REDIS_URL] = _own_database(os.environ[REDIS_URL], worker)
    else:
        _prepare_environment(early_config.known_args_namespace.file_or_dir)
    try:
        yield
    except BaseException:
        _servers.close()
        raise


def pytest_unconfigure() -> None:
    """Stop the servers; in a worker there are none to stop."""
    _servers.close()


def _prepare_environment(paths: list[str]) -> None:
    for name in (*SETTINGS_OF_THE_CALLER, DATABASE_URL, OWNER_URL, REDIS_URL):
        os.environ.pop(name, None)
    os.environ.update(TEST_SETTINGS)
    state = _servers.enter_context(temporary_state())
    os.environ["PORTAL_STATE_DIR"] = str(state.root)
    if not only_unit_tests(paths):
        environment = _servers.enter_context(running_servers(state, os.environ, durable=False))
        os.environ.update(as_owner(environment))
    os.environ.setdefault(REDIS_URL, "unix:///nonexistent?db=0")


def only_unit_tests(paths: list[str]) -> bool:
    """Whether every given path (node ids included) lies in tests/unit; no path means the whole suite."""
    return bool(paths) and all(Path(path.split("::")[0]).resolve().is_relative_to(UNIT_TESTS) for path in paths)


def as_owner(environment: Mapping[str, str]) -> dict[str, str]:
    """Tests create and migrate their database, so they connect as its owner. It stays a test run, too:
    `PORTAL_EMBEDDED` speaks of the portal's own servers."""
    kept = {name: value for name, value in environment.items() if name != "PORTAL_EMBEDDED"}
    return {**kept, DATABASE_URL: environment[OWNER_URL]}


def _own_database(url: str, worker: str) -> str:
    """Each xdist worker has a Valkey database of its own, as it has a PostgreSQL one."""
    number = int(worker.removeprefix("gw")) + 1
    return f"{url.rpartition('?')[0]}?db={number}"
