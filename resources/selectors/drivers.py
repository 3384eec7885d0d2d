"""The driver of a cluster, built from the settings and kept for the life of the process."""

import ipaddress
import platform
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from resources.drivers.base import Driver, DriverUnavailable
from resources.drivers.local.site import LocalOptions
from resources.drivers.registry import build_driver
from resources.drivers.simulated.clock import driven_by
from resources.drivers.simulated.fleet import SHIPPED, load_fleet
from resources.drivers.simulated.reading import FleetError
from resources.drivers.simulated.sqlite import SqliteStore
from resources.models import Cluster
from resources.selectors.connections import connection_of, connection_version
from resources.selectors.vendor_rows import catalogue_in_force

KUBERNETES = "kubernetes"
_reached: dict[str, tuple[str, Driver]] = {}
_lock = threading.Lock()


def driver_for(cluster: Cluster) -> Driver:
    """The driver behind this cluster. Raises DriverUnavailable for a kind this installation does not have, and for a
    cluster whose credentials are missing or cannot be opened."""
    if cluster.driver == KUBERNETES:
        return _kubernetes(cluster)
    return _driver(cluster.driver, cluster.key)


def _kubernetes(cluster: Cluster) -> Driver:
    """Kept until an endpoint, a credential or a row of the catalogue of names is changed: what it learnt (breaker,
    versions) goes with the old ones."""
    rows, catalogue = catalogue_in_force()
    version = f"{connection_version(cluster)} {rows}"
    with _lock:
        known = _reached.get(cluster.key)
        if known is None or known[0] != version:
            driver = build_driver(KUBERNETES, connection=connection_of(cluster), catalogue=catalogue)
            known = _reached[cluster.key] = (version, driver)
    return known[1]


@lru_cache(maxsize=256)
def _driver(kind: str, key: str) -> Driver:
    return build_driver(kind, **_OPTIONS[kind](key) if kind in _OPTIONS else {})


def simulated_clock(clock: Callable[[], datetime]) -> AbstractContextManager[None]:
    """Within it, `clock` and not the wall clock drives every simulated cluster of this process."""
    return driven_by(clock)


def _local_options(key: str) -> dict[str, Any]:
    state = Path(settings.STATE_DIR)
    data = state / "data"
    return {
        "root": state / "local",
        "node_name": platform.node() or "localhost",
        # Modules that the programs share lie beside them and are no programs of their own.
        "programs": {
            path.stem: path
            for path in sorted(Path(settings.PROGRAMS_DIR).glob("*.py"))
            if not path.stem.startswith("portal_")
        },
        "listens_beyond_loopback": not is_loopback(settings.BIND),
        "allowed_read": (data,),
        "allowed_write": (data,),
        "options": LocalOptions(hidden=(state,)),
    }


def is_loopback(bind: str) -> bool:
    """Whether an address:port is reachable from this machine only; what cannot be told is not."""
    host = bind.rpartition(":")[0].strip("[]") or bind
    if host == "localhost" or bind.startswith("unix:"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _simulated_options(key: str) -> dict[str, Any]:
    """The fleet of a cluster is a document of its own in the state folder, else the shipped one of its key."""
    state = Path(settings.STATE_DIR) / "simulated"
    own = state / f"{key}.json"
    try:
        fleet = load_fleet(own if own.exists() else SHIPPED / f"{key}.json")
    except (OSError, FleetError) as error:
        raise DriverUnavailable(f"fleet of {key}: {error}", reason="FleetUnusable") from error
    return {"fleet": fleet, "store": SqliteStore(state / key)}


_OPTIONS = {"local": _local_options, "simulated": _simulated_options}
