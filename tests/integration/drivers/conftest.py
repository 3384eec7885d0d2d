"""Harnesses over one state folder per test module: as on a real machine, workloads share it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.drivers.local_harness import LocalHarness


@pytest.fixture(scope="module")
def isolated_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("isolated")


@pytest.fixture(scope="module")
def plain_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain")


@pytest.fixture
def isolated(isolated_state: Path) -> Iterator[LocalHarness]:
    """Jobs in namespaces; skipped, with the reason, where the machine does not allow them."""
    harness = LocalHarness(isolated_state)
    capability = harness.driver().capability()
    if not capability.isolation:
        pytest.skip(f"this machine cannot isolate jobs: {capability.isolation_cause}")
    yield harness
    harness.end_everything()


@pytest.fixture
def plain(plain_state: Path) -> Iterator[LocalHarness]:
    """Jobs without namespaces, as on a machine that forbids them."""
    harness = LocalHarness(plain_state, isolated=False)
    yield harness
    harness.end_everything()


@pytest.fixture(params=["isolated", "plain"])
def harness(request: pytest.FixtureRequest) -> LocalHarness:
    """Both ways."""
    chosen: LocalHarness = request.getfixturevalue(request.param)
    return chosen
