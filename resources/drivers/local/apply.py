"""Making a workload exist, once, whatever dies on the way.

In order: the fence, the members' folders, the record (the intent: from here on the workload exists), the launchers.
Each step may be repeated. A launcher claims its member under the member's lock before it starts anything, so a second
one finds the claim and leaves: at most one start, with no window between a fork and the note of its pid.
"""

import subprocess
import time
from collections.abc import Iterable

from portal.lib.clock import to_ms
from portal.lib.failpoints import failpoint
from resources.drivers.base import DriverUnavailable, MemberSpec, Workload, WorkloadRejected

from .check import Checked, check, check_identity, granted
from .choose import choose_cpus, choose_port, live_members
from .close import close_unstarted
from .devices import Exposure, expose, read_devices
from .isolation import Isolation
from .launch import launch, make_folder, make_scratch, marker_of, write_member
from .launcher import records
from .launcher.records import Record
from .plan import Granted, member_plan
from .site import Site
from .store import Store


def apply_workload(site: Site, store: Store, workload: Workload, isolation: Isolation) -> None:
    """See `Driver.apply`."""
    check_identity(workload)
    try:
        with store.name_lock(workload.name):
            record = _accept(site, store, workload, isolation)
            failpoint("local.apply.after_intent")
            _start(site, store, record)
            failpoint("local.apply.before_return")
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise DriverUnavailable(f"{workload.name}: {error}", reason="ApplyFailed") from error


def _accept(site: Site, store: Store, workload: Workload, isolation: Isolation) -> Record:
    """The record of the workload, found or made. What was accepted once is not judged again: it may run."""
    record = store.record(workload.name)
    if record and (record["attempt_id"], record["job_id"]) != (workload.attempt_id, workload.job_id):
        raise WorkloadRejected(f"{workload.name} belongs to another attempt", reason="NameTaken")
    if record:
        _pass_fence(store, workload)
        return record
    checked = check(site, workload)
    if isolation.mode == "none" and not workload.shipped:
        raise WorkloadRejected(isolation.cause or isolation.detail, reason="IsolationUnavailable")
    failpoint("local.apply.before_fence")
    _pass_fence(store, workload)
    failpoint("local.apply.after_fence")
    return _intend(site, store, workload, checked, isolation.mode)


def _pass_fence(store: Store, workload: Workload) -> None:
    if not store.raise_fence(workload.job_id, workload.generation, workload.attempt_id):
        raise WorkloadRejected(f"{workload.name}: generation {workload.generation} is past", reason="FencedOut")


def _intend(site: Site, store: Store, workload: Workload, checked: Checked, isolation: str) -> Record:
    exposures = _expose(site, workload.members)
    store.remove(workload.name)  # what a caller left that died before the record was written
    for folder in filter(None, (checked.output, checked.checkpoint)):
        make_folder(folder, isolation)
    with store.place_lock():
        members: list[Record] = []
        live = live_members(store)
        for member in sorted(workload.members, key=lambda member: member.index):
            cpus = choose_cpus(member, [*live, *members])
            port = choose_port(site.options.ports, [*live, *members]) if workload.serves else 0
            chosen = Granted(cpus, port, exposures[member.index])
            _write(site, store, workload, checked, member, chosen, isolation)
            members.append(_entry(member, chosen))
        record = {
            "name": workload.name,
            "job_id": workload.job_id,
            "attempt_id": workload.attempt_id,
            "generation": workload.generation,
            "created_at": to_ms(site.clock()),
            "serves": workload.serves,
            "isolation": isolation,
            "members": members,
        }
        failpoint("local.apply.before_intent")
        store.write_record(workload.name, record)
    return record


def _expose(site: Site, members: Iterable[MemberSpec]) -> dict[int, Exposure]:
    """Per member what its devices need; the makers' tools are asked only when a device was granted."""
    uuids = {member.index: granted(member) for member in members}
    vendors = site.options.vendors
    readings = read_devices(vendors) if any(uuids.values()) else ()
    try:
        return {index: expose(wanted, vendors, readings) for index, wanted in uuids.items()}
    except KeyError as error:
        failures = [reading.failure for reading in readings if reading.failure]
        if failures:
            raise DriverUnavailable("; ".join(failures), reason="DeviceToolFailed") from error
        raise WorkloadRejected(f"no device {error} on this machine", reason="DeviceUnknown") from None


def _write(
    site: Site,
    store: Store,
    workload: Workload,
    checked: Checked,
    member: MemberSpec,
    chosen: Granted,
    isolation: str,
) -> None:
    folder = store.member(workload.name, member.index)
    scratch = make_scratch(store, workload.name, member.index, isolation)
    plan = member_plan(site, workload, checked, member, chosen, isolation=isolation, folder=folder, scratch=scratch)
    write_member(folder, plan, checked.params)


def _entry(member: MemberSpec, chosen: Granted) -> Record:
    return {
        "index": member.index,
        "cpu_milli": member.cpu_milli,
        "memory_bytes": member.memory_bytes,
        "devices": list(granted(member)),
        "cpus": list(chosen.cpus),
        "port": chosen.port,
    }


def _start(site: Site, store: Store, record: Record) -> None:
    name = record["name"]
    if store.stop(name):
        close_unstarted(site, store, record)
        return
    waiting = [entry["index"] for entry in record["members"] if not _settled(store, name, entry["index"])]
    if waiting and site.listens_beyond_loopback:
        raise DriverUnavailable(f"{name}: members {waiting} wait for a loopback portal", reason="NotLoopback")
    for index in waiting:
        launch(store.member(name, index), marker=marker_of(record["attempt_id"], index))
        failpoint("local.apply.between_members")
    failpoint("local.apply.after_launch")
    until = time.monotonic() + site.options.claim_time_out_s
    while waiting := [index for index in waiting if not _settled(store, name, index)]:
        if store.stop(name):
            return
        if time.monotonic() > until:
            raise DriverUnavailable(f"{name}: members {waiting} were not claimed", reason="LaunchTimedOut")
        time.sleep(0.005)


def _settled(store: Store, name: str, index: int) -> bool:
    return any((store.member(name, index) / kind).exists() for kind in (records.START, records.EXIT))
