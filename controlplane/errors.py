"""Refusals of the control plane's tools."""


class ControlPlaneError(Exception):
    """One sentence for the terminal: what is wrong and what to do about it."""


class NotBuilt(ControlPlaneError):
    """The cache holds no binary for what the checkout declares."""
