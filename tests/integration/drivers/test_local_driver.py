"""The local driver under the contract, isolated and not (fixture `harness`)."""

from tests.integration.drivers.contract import DriverContract


class TestLocalDriver(DriverContract):
    """The contract's tests run here."""
