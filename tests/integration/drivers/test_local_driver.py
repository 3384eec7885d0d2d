"""The local driver under the contract, isolated and not (fixture `harness`)."""

from tests.integration.drivers.contract import ProgramContract


class TestLocalDriver(ProgramContract):
    """The contract's tests run here."""
