"""Which driver serves a cluster: kind → factory. A new kind is one line here."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from resources.drivers.base import Driver, DriverUnavailable

FACTORIES: Mapping[str, str] = {
    "kubernetes": "resources.drivers.kubernetes.driver:KubernetesDriver",
    "local": "resources.drivers.local.driver:LocalDriver",
    "simulated": "resources.drivers.simulated.driver:SimulatedDriver",
}
"""Kind → `module:callable`, imported when first used: one machine needs no other driver's libraries."""


def build_driver(kind: str, /, *args: Any, **options: Any) -> Driver:
    """The driver of a cluster of this kind, built from the factory's own arguments.

    Raises DriverUnavailable (`KindUnknown`) for a kind this installation does not have.
    """
    if kind not in FACTORIES:
        raise DriverUnavailable(f"no driver for clusters of kind {kind!r}", reason="KindUnknown")
    module, _, name = FACTORIES[kind].partition(":")
    driver: Driver = getattr(import_module(module), name)(*args, **options)
    return driver
