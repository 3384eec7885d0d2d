"""Refusals of the embedded mode."""


class EmbeddedError(Exception):
    """One sentence for the terminal: what is wrong and what to do about it."""


class AlreadyRunning(EmbeddedError):
    """Another `up` holds this state folder."""


class StopRequested(Exception):
    """The supervisor was asked to stop while it waited for something."""
