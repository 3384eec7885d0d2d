"""What is, read from the records and from the life of the processes they name."""

from datetime import datetime

from portal.lib.clock import from_ms
from resources.drivers.base import Observation, Phase, SeenMember, SeenWorkload

from .launcher import records
from .launcher.records import Record
from .site import Site
from .stop import press_on
from .store import Store


def observe_all(site: Site, store: Store) -> Observation:
    """Every workload with a record. One that cannot be read is left out, and the list is then not complete."""
    seen, complete = [], True
    for name in store.names():
        try:
            record = store.record(name)
            if record is not None:
                press_on(site, store, record)
                workload = _workload(site, store, record)
                if store.record(name) is not None:  # not forgotten while we looked
                    seen.append(workload)
        except FileNotFoundError:  # forgotten while we looked
            continue
        except (OSError, ValueError, KeyError, TypeError):
            complete = False
    return Observation(workloads=tuple(seen), at=site.clock(), complete=complete)


def _workload(site: Site, store: Store, record: Record) -> SeenWorkload:
    name = record["name"]
    return SeenWorkload(
        name=name,
        job_id=record["job_id"],
        attempt_id=record["attempt_id"],
        generation=record["generation"],
        members=tuple(_member(site, store, record, entry) for entry in record["members"]),
        stopping=store.stop(name) is not None,
    )


def _member(site: Site, store: Store, record: Record, entry: Record) -> SeenMember:
    name, index = record["name"], entry["index"]
    start = store.member_record(name, index, records.START)
    alive = is_alive(start)
    # The exit record is read last: a launcher that ended between two reads has left it.
    ended = store.member_record(name, index, records.EXIT)
    state = store.member_record(name, index, records.STATE) or {}
    health = store.member_record(name, index, records.HEALTH) or {}
    phase, reason, message = _standing(start, state, ended, alive=alive)
    return SeenMember(
        index=index,
        node=site.node_name,
        phase=phase,
        bound_at=from_ms(record["created_at"]),
        started_at=_moment(ended or {}, "started_at") or _moment(state, "started_at"),
        ready_at=_moment(health, "ready_at"),
        finished_at=_moment(ended or {}, "finished_at"),
        exit_code=ended["exit_code"] if ended else None,
        signal=ended["signal"] if ended else None,
        reason=reason,
        message=message or ("" if ended else health.get("message", "")),
        address=f"127.0.0.1:{entry['port']}" if entry["port"] else "",
        uid=f"{start['pid']}:{start['ticks']}" if start else "",
    )


def _standing(start: Record | None, state: Record, ended: Record | None, *, alive: bool) -> tuple[Phase, str, str]:
    if ended:
        return (Phase.SUCCEEDED if ended["ok"] else Phase.FAILED), ended["reason"], ended["message"]
    if start is None:
        return Phase.PENDING, "", ""
    if alive:
        return (Phase.RUNNING if state else Phase.PENDING), "", ""
    if start["boot"] != records.boot_id():
        return Phase.UNKNOWN, "HostRebooted", "the machine was restarted; how the program ended is not known"
    return Phase.UNKNOWN, "LauncherLost", "its launcher was killed; how the program ended is not known"


def is_alive(start: Record | None) -> bool:
    """Whether the launcher of a start record lives: same pid, same start time, same boot."""
    return start is not None and records.same_process(start["pid"], start["ticks"], start["boot"])


def _moment(record: Record, key: str) -> datetime | None:
    return from_ms(record[key]) if record.get(key) else None
