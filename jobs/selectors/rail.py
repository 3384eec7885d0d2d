"""A job's rail: each stage with when it began and why, from its events."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from jobs.keeping import NO_LOG
from jobs.models import Attempt, Job, JobEvent
from jobs.reasons import Reason
from jobs.states import AllocationState, JobState, RailStage, rail_stage
from portal.lib import units
from portal.lib.clock import to_ms
from portal.lib.display import RailStage as Stage
from portal.lib.display import StageStatus
from resources.selectors.names import name_of

_FINE = ("", "NothingToKeep")
_ORDER: list[RailStage] = [stage for stage in RailStage if stage is not RailStage.STOPPING]


def rail_of(job: Job, attempt: Attempt | None, events: Sequence[JobEvent]) -> list[Stage]:
    """Stages in order; `stopping` only when it happened. A requeue starts the rail again at queued."""
    allocation = _worst_allocation(attempt)
    here = rail_stage(JobState(job.state), allocation, job.archived_at is not None)
    times = _begun(job, attempt, _of_current_try(events))
    stages = list(_ORDER)
    if RailStage.STOPPING in times or here is RailStage.STOPPING:
        stages.insert(stages.index(RailStage.RELEASING), RailStage.STOPPING)
    place = stages.index(here)
    leaked = allocation is AllocationState.LEAKED
    return [
        Stage(
            key=stage.value,
            label=_label(stage, job, place > index),
            status=_status(stage, index - place, job, reached=stage in times, leaked=leaked),
            time=times.get(stage),
            cause=_cause(stage, job, attempt, times),
        )
        for index, stage in enumerate(stages)
    ]


def _worst_allocation(attempt: Attempt | None) -> AllocationState | None:
    """The furthest from released of the attempt's allocations."""
    if attempt is None:
        return None
    states = {AllocationState(a.state) for a in attempt.allocations.all()}
    order = (
        AllocationState.LEAKED,
        AllocationState.BOUND,
        AllocationState.RESERVED,
        AllocationState.RELEASING,
        AllocationState.RELEASED,
    )
    return next((state for state in order if state in states), None)


def _of_current_try(events: Sequence[JobEvent]) -> list[JobEvent]:
    """Events since the job last (re)joined the queue."""
    starts = [i for i, e in enumerate(events) if e.kind == "state" and e.new == JobState.QUEUED]
    return list(events[starts[-1] :]) if starts else list(events)


def _begun(job: Job, attempt: Attempt | None, events: Sequence[JobEvent]) -> dict[RailStage, datetime]:
    """When each stage that was reached began."""
    names = {
        JobState.QUEUED: RailStage.QUEUED,
        JobState.ADMITTED: RailStage.ADMITTED,
        JobState.STARTING: RailStage.STARTING,
        JobState.RUNNING: RailStage.RUNNING,
        JobState.STOPPING: RailStage.STOPPING,
    }
    times = {RailStage.SELECTED: job.submitted_at}
    for event in events:
        if event.kind == "state" and event.new in set(names):
            times[names[JobState(event.new)]] = event.at
    if attempt is not None and attempt.number == job.generation:
        times |= _measured(attempt, times)
    if job.archived_at:
        times[RailStage.ARCHIVED] = job.archived_at
    return times


def _measured(attempt: Attempt, times: Mapping[RailStage, datetime]) -> dict[RailStage, datetime]:
    """The clock points of metering where they are known, so that the rail and the usage show the same spans."""
    points = {RailStage.STARTING: attempt.bound_at, RailStage.RUNNING: attempt.started_at}
    found = {stage: at for stage, at in points.items() if at is not None and stage in times}
    if attempt.ended and attempt.stopped_at:
        found[RailStage.RELEASING] = attempt.stopped_at
        if attempt.released_at:
            found[RailStage.RELEASED] = attempt.released_at
    return found


def _status(stage: RailStage, ahead: int, job: Job, *, reached: bool, leaked: bool) -> StageStatus:
    """`ahead` is how many stages this one lies before (negative) or behind the job's place."""
    if stage is RailStage.RELEASED and leaked:
        return "bad"
    if stage is RailStage.RUNNING and job.state == JobState.FAILED and ahead < 0:
        return "bad"
    if stage is RailStage.ARCHIVED and ahead == 0:
        return "done" if job.archive_note in _FINE else "warn"
    if ahead >= 0:
        return "next" if ahead else "now"
    return "done" if reached or not job.is_final else "next"


def _label(stage: RailStage, job: Job, passed: bool) -> str:
    if stage is RailStage.RUNNING and passed and job.state == JobState.FAILED:
        return _("Failed")
    words = {
        RailStage.SELECTED: _("Selected"),
        RailStage.QUEUED: _("Queued"),
        RailStage.ADMITTED: _("Admitted"),
        RailStage.STARTING: _("Starting"),
        RailStage.RUNNING: _("Running"),
        RailStage.STOPPING: _("Stopping"),
        RailStage.RELEASING: _("Releasing"),
        RailStage.RELEASED: _("Released"),
        RailStage.ARCHIVED: _("Archived"),
    }
    return words[stage]


def _cause(stage: RailStage, job: Job, attempt: Attempt | None, times: dict[RailStage, datetime]) -> str:
    """A few words: who asked, how long it took, where it went."""
    if stage is RailStage.SELECTED:
        return _("by {who}").format(who=job.submitter)
    if stage is RailStage.ADMITTED and attempt is not None and stage in times:
        return name_of("pool", attempt.pool_key)
    if stage is RailStage.STOPPING and job.reason == Reason.CANCELLED_BY_USER:
        return _("cancelled")
    if stage is RailStage.ARCHIVED and job.archive_note:
        return {"NothingToKeep": _("nothing to keep"), NO_LOG: _("without its log")}.get(job.archive_note, _("failed"))
    return _span(stage, attempt, times)


def _span(stage: RailStage, attempt: Attempt | None, times: Mapping[RailStage, datetime]) -> str:
    """The phase of metering that begins here and how long it took: wait t1 to t4, startup to t5, running to t7."""
    stopped = attempt.stopped_at if attempt is not None else None
    phases = {
        RailStage.QUEUED: (_("wait {span}"), times.get(RailStage.STARTING)),
        RailStage.STARTING: (_("startup {span}"), times.get(RailStage.RUNNING)),
        RailStage.RUNNING: ("{span}", stopped),
        RailStage.RELEASING: (_("release lag {span}"), times.get(RailStage.RELEASED)),
    }
    words, until = phases.get(stage, ("", None))
    if until is None or stage not in times:
        return ""
    # Each end is cut to its millisecond, as the ledger does it.
    return words.format(span=units.duration_text(max(0, to_ms(until) - to_ms(times[stage]))))
