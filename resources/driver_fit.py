"""Whether the drivers of a node are among those a runtime was declared for. Pure: what is unknown is never outside."""

from collections.abc import Iterable
from enum import StrEnum

from resources.versions import within


class DriverFit(StrEnum):
    """What is known of it."""

    WITHIN = "within"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"
    """No driver was reported, or its version cannot be read."""


def driver_fit(versions: Iterable[str], stated: str) -> DriverFit:
    """Of the devices that a job would get: one version of each group, "" where it reports none.

    `stated` is a cleaned range (`versions.clean_range`); "" takes every driver. One version outside is enough to be
    outside, and one unknown beside known ones is unknown. A job without devices has no driver to fit: no versions are
    within.
    """
    if not stated:
        return DriverFit.WITHIN
    found = {within(version, stated) for version in versions}
    if False in found:
        return DriverFit.OUTSIDE
    return DriverFit.UNKNOWN if None in found else DriverFit.WITHIN


def is_refused(fit: DriverFit, *, known_only: bool) -> bool:
    """Whether a node is out of question: outside always, unknown only by a pool's rule (`Pool.known_driver_only`)."""
    return fit is DriverFit.OUTSIDE or (fit is DriverFit.UNKNOWN and known_only)
