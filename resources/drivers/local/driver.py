"""The local driver: real processes on this machine. Each verb is a module; this is only the list of them."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path

from portal.lib.clock import utc_now
from resources.drivers.base import Capability, Inventory, Observation, ReleaseReading, Workload

from .apply import apply_workload
from .check import is_name
from .inventory import read_inventory
from .isolation import Isolation, Prober
from .keep import forget_workload, read_log
from .observe import observe_all
from .release import read_release
from .site import LocalOptions, Site
from .stop import stop_workload
from .store import Store


class LocalDriver:
    """A `Driver` (see `resources.drivers.base`) for one machine, run by the user who runs the portal.

    `root` is the driver's own folder; `programs` maps keys of shipped programs to their files. Several drivers may
    share a root, in one process or in many: all state is on disk. A name that is none is a name never applied.
    """

    def __init__(
        self,
        root: Path,
        *,
        node_name: str,
        programs: Mapping[str, Path],
        listens_beyond_loopback: bool,
        allowed_read: Iterable[Path] = (),
        allowed_write: Iterable[Path] = (),
        clock: Callable[[], datetime] = utc_now,
        options: LocalOptions | None = None,
    ) -> None:
        self._site = Site(
            root=root.resolve(),
            node_name=node_name,
            programs=dict(programs),
            allowed_read=tuple(allowed_read),
            allowed_write=tuple(allowed_write),
            listens_beyond_loopback=listens_beyond_loopback,
            clock=clock,
            options=options or LocalOptions(),
        )
        self._store = Store(self._site.root)
        self._prober = Prober(self._site)

    def capability(self) -> Capability:
        """Whether jobs are isolated here; takes a moment the first time."""
        found = self._prober.isolation()
        return Capability(isolation=found.mode != "none", isolation_detail=found.detail, isolation_cause=found.cause)

    def inventory(self) -> Inventory:
        """This machine as one node."""
        return read_inventory(self._site)

    def facts(self) -> None:
        """Nothing beside its nodes."""

    def apply(self, workload: Workload) -> None:
        """Start every member, once."""
        refused = self._site.listens_beyond_loopback or not self._site.options.isolate
        isolation = Isolation("none", "") if refused else self._prober.isolation()
        apply_workload(self._site, self._store, workload, isolation)

    def observe(self) -> Observation:
        """Every workload not forgotten."""
        return observe_all(self._site, self._store)

    def stop(self, name: str, *, attempt_id: str, grace_ms: int) -> None:
        """Write the wish and wake the launchers; they climb the ladder with or without the portal."""
        if is_name(name):
            stop_workload(self._site, self._store, name, attempt_id=attempt_id, grace_ms=grace_ms)

    def release(self, name: str, *, attempt_id: str) -> ReleaseReading:
        """Processes, requests and devices still held, and temporary files removed."""
        return read_release(self._site, self._store, _name(name), attempt_id=attempt_id)

    def logs(self, name: str, *, member: int, offset: int, limit: int) -> tuple[bytes, int]:
        """A piece of a member's log."""
        return read_log(self._store, _name(name), member=member, offset=offset, limit=limit)

    def forget(self, name: str, *, attempt_id: str) -> None:
        """Remove logs and records of an ended workload; its attempt can never be started again."""
        if is_name(name):
            forget_workload(self._store, name, attempt_id=attempt_id)


def _name(name: str) -> str:
    """The name, or one that is never used: what is no name cannot lead out of the folder."""
    return name if is_name(name) else "-"
