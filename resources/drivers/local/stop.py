"""Ending a workload: a durable wish that its launchers carry out, or the driver itself where a launcher is gone."""

import contextlib
import signal

from portal.lib.clock import to_ms
from portal.lib.failpoints import failpoint
from resources.drivers.base import DriverUnavailable

from .close import close_unstarted
from .launcher import records
from .launcher.records import Record
from .scan import processes_of
from .site import Site
from .store import Store

_PATIENCE_MS = 10_000
"""How long after the grace a launcher may still work on the end before the driver does it."""


def stop_workload(site: Site, store: Store, name: str, *, attempt_id: str, grace_ms: int) -> None:
    """See `Driver.stop`."""
    try:
        record = store.record(name)
        if record is None or record["attempt_id"] != attempt_id:
            return
        _wish(site, store, name, grace_ms)
        failpoint("local.stop.after_request")
        press_on(site, store, record)
        _wake(store, record)
        _end_strays(store, record)
    except FileNotFoundError:  # forgotten meanwhile
        return
    except (OSError, ValueError, KeyError) as error:
        raise DriverUnavailable(f"{name}: {error}", reason="StopFailed") from error


def _wish(site: Site, store: Store, name: str, grace_ms: int) -> None:
    """Write the stop request; a second one may only bring the end nearer."""
    now, known = to_ms(site.clock()), store.stop(name)
    if known is None or now + grace_ms < known["requested_at"] + known["grace_ms"]:
        store.write_stop(name, {"requested_at": now, "grace_ms": grace_ms})


def _wake(store: Store, record: Record) -> None:
    for entry in record["members"]:
        start = store.member_record(record["name"], entry["index"], records.START)
        if start:
            records.send_signal(start["pid"], start["ticks"], start["boot"], signal.SIGUSR1)


def _end_strays(store: Store, record: Record) -> None:
    """Kill what outlived its member: nothing may, and nobody else is left to end it."""
    name = record["name"]
    ended = [entry["index"] for entry in record["members"] if _ended(store, name, entry["index"])]
    gone = [index for index in ended if not _has_launcher(store, name, index)]
    if gone:
        _signal_all(store, record, gone, signal.SIGKILL)


def press_on(site: Site, store: Store, record: Record) -> None:
    """What a wished end still needs from the driver: nothing while each launcher lives and keeps its time."""
    name = record["name"]
    stop = store.stop(name)
    if stop is None:
        return
    close_unstarted(site, store, record)
    open_members = [entry["index"] for entry in record["members"] if not _ended(store, name, entry["index"])]
    if not open_members:
        return
    late = to_ms(site.clock()) - stop["requested_at"] - stop["grace_ms"]
    orphaned = [index for index in open_members if not _has_launcher(store, name, index)]
    if late >= _PATIENCE_MS:
        orphaned = open_members
    if orphaned:
        _signal_all(store, record, orphaned, signal.SIGKILL if late >= 0 else signal.SIGTERM)


def _ended(store: Store, name: str, index: int) -> bool:
    return store.member_record(name, index, records.EXIT) is not None


def _has_launcher(store: Store, name: str, index: int) -> bool:
    start = store.member_record(name, index, records.START)
    return start is not None and records.same_process(start["pid"], start["ticks"], start["boot"])


def _signal_all(store: Store, record: Record, indexes: list[int], number: int) -> None:
    boot = records.boot_id()
    for found in processes_of(store, record["attempt_id"], record):
        if found.index is None or found.index in indexes:
            with contextlib.suppress(PermissionError):
                records.send_signal(found.pid, found.ticks, boot, number)
