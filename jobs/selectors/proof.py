"""A release record as the three levels and what else came back, in words."""

from datetime import datetime

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
        ProofLevel(_("Quota"), _seen(record.quota_returned_at), "", _after(record, record.quota_returned_at)),
        ProofLevel(_("Queue slot"), _seen(record.slot_returned_at), "", _after(record, record.slot_returned_at)),
        ProofLevel(
            _("Temporary files"),
            _seen(record.temporary_removed_at),
            removed,
            _after(record, record.temporary_removed_at),
        ),
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
    )


def _devices(record: ReleaseRecord) -> ProofLevel:
    devices = record.device_evidence.get("devices", {})
    idle = sum(value == "idle" for value in devices.values())
    if devices:
        text = _("{idle} of {count} devices seen idle").format(idle=idle, count=len(devices))
    elif record.device_state == "idle":
        text = _("no devices held; none of its processes uses the CPU")
    else:
        text = _("no devices held")
    observed: Observed = {"idle": "seen", "busy": "missing"}.get(record.device_state, "unobserved")  # type: ignore[assignment]
    return ProofLevel(_("Device idle"), observed, text, _after(record, record.device_idle_at))


def _state(at: datetime | None, record: ReleaseRecord, reading: object) -> Observed:
    if at is not None:
        return "seen"
    if record.leaked_at is not None:
        return "missing"
    return "waiting" if reading is not None else "unobserved"


def _seen(at: datetime | None) -> Observed:
    return "seen" if at is not None else "waiting"


def _after(record: ReleaseRecord, at: datetime | None) -> int | None:
    return None if at is None else max(0, units.milliseconds(at - record.stopped_at))
