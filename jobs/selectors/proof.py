"""A release record as the three levels and what else came back, in words."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobs.models import ReleaseRecord
from portal.lib import units
from portal.lib.display import Observed, ProofLevel


def levels_of(record: ReleaseRecord) -> list[ProofLevel]:
    """Objects gone, capacity free, device idle: each from what the cluster answered after the end."""
    return [_objects(record), _capacity(record), _devices(record)]


def returned_of(record: ReleaseRecord) -> list[ProofLevel]:
    """Quota, queue slot, temporary files."""
    files = record.temporary_files
    removed = (
        ngettext("{files} file, {size} removed", "{files} files, {size} removed", files).format(
            files=units.number(files), size=units.bytes_text(record.temporary_bytes or 0)
        )
        if files is not None
        else _("not yet removed")
    )
    return [
        _returned(_("Quota"), record, record.quota_returned_at),
        _returned(_("Queue slot"), record, record.slot_returned_at),
        _returned(_("Temporary files"), record, record.temporary_removed_at, removed),
    ]


def levels_seen(record: ReleaseRecord) -> int:
    """How many of the three levels were observed."""
    return sum(level.observed == "seen" for level in levels_of(record))


def _objects(record: ReleaseRecord) -> ProofLevel:
    left = record.objects_evidence.get("left")
    text = _("not read yet") if left is None else _("{left} processes or objects left").format(left=left)
    return ProofLevel(
        _("Objects gone"),
        _state(record.objects_gone_at, record, left),
        text,
        _after(record, record.objects_gone_at),
        _read_at(record.objects_evidence),
    )


def _capacity(record: ReleaseRecord) -> ProofLevel:
    used = record.capacity_evidence.get("used", {})
    cpu, memory = used.get("cpu"), used.get("memory")
    known = cpu is not None and memory is not None
    text = (
        _("read again: {cpu} and {memory} of this job's in use").format(
            cpu=units.cpu_text(cpu), memory=units.bytes_text(memory)
        )
        if known
        else _("not read yet")
    )
    return ProofLevel(
        _("Capacity free"),
        _state(record.capacity_free_at, record, None if not known else 1),
        text,
        _after(record, record.capacity_free_at),
        _read_at(record.capacity_evidence),
    )


def _devices(record: ReleaseRecord) -> ProofLevel:
    devices = record.device_evidence.get("devices", {})
    idle = sum(value == "idle" for value in devices.values())
    if devices:
        text = _("devices seen idle: {idle} of {count}").format(idle=idle, count=len(devices))
    elif record.device_state == "idle":
        text = _("no devices held; none of its processes uses the CPU")
    else:
        text = _("no devices held")
    observed: Observed = {"idle": "seen", "busy": "missing"}.get(record.device_state, "unobserved")  # type: ignore[assignment]
    after = _after(record, record.device_idle_at)
    return ProofLevel(_("Device idle"), observed, text, after, _read_at(record.device_evidence))


def _state(at: datetime | None, record: ReleaseRecord, reading: object) -> Observed:
    if at is not None:
        return "seen"
    if record.leaked_at is not None:
        return "missing"
    return "waiting" if reading is not None else "unobserved"


def _returned(label: str, record: ReleaseRecord, at: datetime | None, text: str = "") -> ProofLevel:
    return ProofLevel(label, "seen" if at is not None else "waiting", text, _after(record, at), at)


def _read_at(evidence: Mapping[str, Any]) -> datetime | None:
    """When the cluster was read for it: a level keeps its own reading, later ones do not move it."""
    read = evidence.get("read_at")
    return datetime.fromisoformat(read) if isinstance(read, str) else None


def _after(record: ReleaseRecord, at: datetime | None) -> int | None:
    return None if at is None else max(0, units.milliseconds(at - record.stopped_at))
