"""What an ended workload still holds, read again on three levels, and the removal of its temporary files."""

from collections.abc import Iterable

from portal.lib.failpoints import failpoint
from resources.drivers.base import DriverUnavailable, Idle, ReleaseReading

from . import clean
from .devices import idleness, read_devices
from .launcher import cgroup, records
from .launcher.records import Record
from .observe import is_alive
from .plan import cgroup_of
from .scan import Found, processes_left
from .site import Site
from .store import Store


def read_release(site: Site, store: Store, name: str, *, attempt_id: str) -> ReleaseReading:
    """See `Driver.release`."""
    try:
        with store.name_lock(name):
            record = store.record(name)
            if record is not None and record["attempt_id"] != attempt_id:
                record = None  # the name is another's now; ours can only have left processes
            found = processes_left(store, attempt_id, record)
            return _reading(site, store, record, found)
    except (OSError, ValueError, KeyError) as error:
        raise DriverUnavailable(f"{name}: {error}", reason="ReleaseUnread") from error


def _reading(site: Site, store: Store, record: Record | None, found: list[Found]) -> ReleaseReading:
    entries = record["members"] if record else []
    holding = _holding(entries, found)
    uuids = [uuid for entry in entries for uuid in entry["devices"]]
    readings = read_devices(site.options.vendors) if uuids else ()
    files, size = _clean(site, store, record, found)
    return ReleaseReading(
        at=site.clock(),
        objects_left=len(found),
        used_cpu_milli=sum(entry["cpu_milli"] for entry in holding),
        used_memory_bytes=sum(entry["memory_bytes"] for entry in holding),
        devices=idleness(uuids, readings),
        cpu_idle=Idle.BUSY if found else Idle.IDLE,
        temporary_files=files,
        temporary_bytes=size,
    )


def _holding(entries: Iterable[Record], found: Iterable[Found]) -> list[Record]:
    """Members of which a process is left; one that does not say whose it is counts for all."""
    indexes = {process.index for process in found}
    return [entry for entry in entries if None in indexes or entry["index"] in indexes]


def _clean(site: Site, store: Store, record: Record | None, found: list[Found]) -> tuple[int | None, int | None]:
    """Counts and removes temporary files once nothing runs and nothing can start; repeats give the same counts."""
    if record is None:
        return 0, 0
    if found or not _over(store, record):
        return None, None
    name = record["name"]
    cleaned, scratch = store.cleaned(name), str(store.scratch(name))
    if cleaned is None:
        files, size = clean.measure_and_flatten(scratch)
        cleaned = {"files": files, "bytes": size, "done": False}
        store.write_cleaned(name, cleaned)
        failpoint("local.release.while_cleaning")
    if not cleaned["done"]:
        clean.remove(scratch)
        for entry in record["members"] if site.options.cgroup else ():
            cgroup.remove(cgroup_of(site, name, entry["index"]))  # a launcher that was killed leaves it behind
        store.write_cleaned(name, cleaned | {"done": True})
    return cleaned["files"], cleaned["bytes"]


def _over(store: Store, record: Record) -> bool:
    return all(member_is_over(store, record["name"], entry["index"]) for entry in record["members"])


def member_is_over(store: Store, name: str, index: int) -> bool:
    """Whether a member has ended or is lost; one that was never started may still start."""
    start = store.member_record(name, index, records.START)
    alive = is_alive(start)
    if store.member_record(name, index, records.EXIT) is not None:
        return True
    return start is not None and not alive
