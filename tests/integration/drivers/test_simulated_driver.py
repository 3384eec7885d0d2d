"""The simulated driver under the contract, on disk and on the wall clock."""

from pathlib import Path

import pytest

from tests.integration.drivers.contract import DriverContract
from tests.integration.drivers.simulated_harness import SimulatedHarness


class TestSimulatedDriver(DriverContract):
    """The contract's tests run here."""

    @pytest.fixture
    def harness(self, tmp_path: Path) -> SimulatedHarness:
        return SimulatedHarness(tmp_path / "world")
