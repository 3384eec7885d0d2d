"""What to do next about one attempt, from what should be and what is seen. Pure and level-triggered.

Every answer may be acted on and then lost: the next pass sees the same facts and says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from jobs.reasons import Reason
from jobs.states import JobState
from resources.drivers.base import EndCause, Phase, SeenMember, SeenWorkload

LOST_AFTER_PASSES = 2
"""Complete lists without a workload before it counts as gone (trust.md: two lists)."""
APPLY_AGAIN_AFTER = timedelta(seconds=5)
"""A claimed start not up by then is asked for again: whoever asked first may have died half-way."""
READY_TIMEOUT = timedelta(minutes=5)
"""How long a claimed start may stay without a running member."""
CLOCK_SLACK = timedelta(seconds=2)
"""How far a time that a cluster tells may lie outside what can be without being called wrong: clusters cut theirs to
whole seconds."""
STOP_MARGIN = timedelta(seconds=30)
"""Beyond limit and grace before the portal asks for the end itself: the driver enforces the limit first."""

RETRIED = frozenset({Reason.NODE_LOST, Reason.OUTCOME_UNKNOWN, Reason.READY_TIMEOUT, Reason.PLATFORM_FAULT})
"""Ends that are not the application's own doing: another attempt is made where the job has one left."""
_KILLED = 128
SIGKILL = 9


@dataclass(frozen=True, slots=True)
class View:
    """What the portal holds about an attempt. Times are UTC; spans in milliseconds."""

    state: JobState
    members: int
    gang: bool
    claimed_at: datetime
    started_at: datetime | None
    stop_to: JobState | None
    stop_reason: Reason | None
    time_limit_ms: int | None
    memory_bytes: int | None
    grace_ms: int
    attempts_left: int
    missing_passes: int
    expires_quietly: bool
    """An interactive job's time-to-live is the end it was asked for, not a failure."""
    bound_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """When things happened on the cluster; None is not yet, or not observed."""

    bound_at: datetime | None = None
    started_at: datetime | None = None
    ready_at: datetime | None = None
    stopped_at: datetime | None = None
    said: Mapping[str, datetime] = field(default_factory=dict)
    """What the cluster said where that cannot have been, by the name of the time that stands in its place."""


@dataclass(frozen=True, slots=True)
class Apply:
    """Ask the driver to make the workload exist."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Ask the driver to end it; first move the job to STOPPING when it is not there yet."""

    to: JobState
    reason: Reason
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Missing:
    """Not in a complete list: count it, conclude nothing yet."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Still under way; `to` is RUNNING when it is up, None when only times or members changed.

    With `apply` the driver is asked once more to make the workload exist, whole.
    """

    times: Times
    to: JobState | None = None
    apply: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """Over on the cluster: the job goes to `to` (QUEUED is another attempt) and what it holds is to be released."""

    to: JobState
    reason: Reason
    times: Times
    facts: Mapping[str, Any] = field(default_factory=dict)
    exit_code: int | None = None


Action = Apply | Stop | Missing | Progress | End


def decide(
    view: View, seen: SeenWorkload | None, *, complete: bool, now: datetime, until: datetime | None = None
) -> Action | None:
    """The one next step, or None to wait. `complete` is False when the list may be partial; nothing seen can be later
    than `until`, when the look was over.
    """
    if seen is None:
        return _decide_unseen(view, complete, now)
    times = possible(times_of(seen, view.members), view, max(now, until or now))
    if over(seen, view):
        return _end(view, seen, times, now)
    if view.state is JobState.STOPPING:
        return Stop(view.stop_to or JobState.FAILED, view.stop_reason or Reason.OUTCOME_UNKNOWN)
    if _past_limit(view, times, now):
        return _limit_stop(view, now)
    if view.state is JobState.STARTING:
        return _decide_starting(view, seen, times, now)
    return Progress(times)


def over(seen: SeenWorkload, view: View) -> bool:
    """True once nothing of it can still run: every expected member ended, or is unknown beside ended ones."""
    ended = [m for m in seen.members if m.phase in (Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN)]
    return len(ended) >= view.members or (bool(seen.members) and len(ended) == len(seen.members) and seen.stopping)


def times_of(seen: SeenWorkload, members: int) -> Times:
    """t4 to t7 of the workload: the first bound and started, the last ready and stopped."""
    ended = [m for m in seen.members if m.finished_at is not None]
    readies = [m.ready_at for m in seen.members if m.ready_at is not None]
    return Times(
        bound_at=min((m.bound_at for m in seen.members if m.bound_at), default=None),
        started_at=min((m.started_at for m in seen.members if m.started_at), default=None),
        ready_at=max(readies) if len(readies) >= members else None,
        stopped_at=max(m.finished_at for m in ended if m.finished_at) if len(ended) >= members else None,
    )


def possible(times: Times, view: View, latest: datetime) -> Times:
    """The times as they can have been: none before the intent to start, after the look, or out of order.

    In place of a start that cannot have been stands the earliest that can; of an end, when the portal saw it. What is
    known already stays.
    """
    said: dict[str, datetime] = {}

    def within(name: str, told: datetime | None, floor: datetime, too_early: datetime) -> datetime | None:
        if told is None or floor <= told <= latest:
            return told
        early = told < floor
        wrong = (floor - told if early else told - latest) > CLOCK_SLACK
        if wrong:
            said[name] = told
        if not early:
            return latest
        return too_early if wrong else floor

    floor = view.claimed_at
    latest = max(latest, floor)
    bound = view.bound_at or within("bound_at", times.bound_at, floor, floor)
    floor = bound or floor
    started = view.started_at or within("started_at", times.started_at, floor, floor)
    floor = started or floor
    ready = within("ready_at", times.ready_at, floor, floor)
    stopped = within("stopped_at", times.stopped_at, floor, latest)
    return Times(bound, started, ready, stopped, said)


def _decide_unseen(view: View, complete: bool, now: datetime) -> Action | None:
    if view.state in (JobState.ADMITTED, JobState.STARTING):
        return Apply()
    if not complete:
        return None
    if view.missing_passes + 1 < LOST_AFTER_PASSES:
        return Missing()
    times = Times(stopped_at=now)
    if view.state is JobState.STOPPING and view.stop_to is not None and view.stop_reason is not None:
        return End(view.stop_to, view.stop_reason, times)
    return _retry_or(view, End(JobState.FAILED, Reason.OUTCOME_UNKNOWN, times, {"detail": "Vanished"}))


def _decide_starting(view: View, seen: SeenWorkload, times: Times, now: datetime) -> Action:
    up = [m for m in seen.members if m.phase is not Phase.PENDING]
    if len(up) >= view.members:
        return Progress(times, JobState.RUNNING)
    if now - view.claimed_at > READY_TIMEOUT:
        facts = {"ready": len(up), "pods": view.members, "wait": _ms(now - view.claimed_at)}
        to = JobState.QUEUED if view.attempts_left > 0 else JobState.FAILED
        return Stop(to, Reason.READY_TIMEOUT, facts)
    return Progress(times, apply=now - view.claimed_at > APPLY_AGAIN_AFTER)


def _past_limit(view: View, times: Times, now: datetime) -> bool:
    if view.time_limit_ms is None or times.started_at is None:
        return False
    end = times.started_at + timedelta(milliseconds=view.time_limit_ms + view.grace_ms)
    return now > end + STOP_MARGIN


def _limit_stop(view: View, now: datetime) -> Stop:
    to, reason = _limit_end(view)
    return Stop(to, reason, {"limit": view.time_limit_ms, "t": _instant(now)})


def _limit_end(view: View) -> tuple[JobState, Reason]:
    if view.expires_quietly:
        return JobState.SUCCEEDED, Reason.TIME_TO_LIVE
    return JobState.FAILED, Reason.TIME_LIMIT


def _end(view: View, seen: SeenWorkload, times: Times, now: datetime) -> End:
    if times.stopped_at is None:
        known = [m.finished_at for m in seen.members if m.finished_at]
        ended = replace(times, stopped_at=max(known, default=now))
        again = possible(ended, view, now)
        times = replace(again, said={**times.said, **again.said})
    if all(m.phase is Phase.SUCCEEDED for m in seen.members) and len(seen.members) >= view.members:
        # It finished before the stop reached it: that is how it ended.
        return End(JobState.SUCCEEDED, Reason.SUCCEEDED, times, {"ran": _ran(times)}, exit_code=0)
    if view.state is JobState.STOPPING and view.stop_to is not None and view.stop_reason is not None:
        return End(view.stop_to, view.stop_reason, times, exit_code=_first_code(seen))
    return _retry_or(view, _failure(view, seen, times), seen)


def _failure(view: View, seen: SeenWorkload, times: Times) -> End:
    """The failure of the member that ended first: what followed in a gang is its consequence."""
    first = min(
        (m for m in seen.members if m.phase in (Phase.FAILED, Phase.UNKNOWN)),
        key=lambda m: (m.reason == EndCause.GANG_FAILED, _instant(m.finished_at) or 0, m.index),
    )
    if first.phase is Phase.UNKNOWN:
        return End(JobState.FAILED, Reason.OUTCOME_UNKNOWN, times, {"detail": first.reason or "NoExitRecord"})
    to, reason, facts = _cause(view, first, times)
    return End(to, reason, times, {**facts, "member": first.index}, _code(first))


def _cause(view: View, member: SeenMember, times: Times) -> tuple[JobState, Reason, dict[str, Any]]:
    """What the cluster's word for a member's end means for the job."""
    when = _instant(times.stopped_at)
    match member.reason:
        case EndCause.TIME_LIMIT:
            to, reason = _limit_end(view)
            return to, reason, {"limit": view.time_limit_ms, "t": when}
        case EndCause.MEMORY_LIMIT | EndCause.OOM_KILLED:
            facts = {"max": view.memory_bytes, "resource": "memory", "whole": 1}
            return JobState.FAILED, Reason.MEMORY_LIMIT, facts
        case EndCause.START_FAILED:
            return JobState.FAILED, Reason.PLATFORM_FAULT, {"detail": member.reason, "support_id": member.uid}
        case EndCause.HOST_STOPPING:
            return JobState.FAILED, Reason.NODE_LOST, {"node": member.node, "t": when, "cause": member.reason}
    return JobState.FAILED, Reason.APPLICATION_FAILED, {"code": _code(member), "ran": _ran(times)}


def _code(member: SeenMember) -> int:
    """The exit code; 128 + signal where a signal ended it, as shells say it."""
    return member.exit_code if member.exit_code is not None else _KILLED + (member.signal or 0)


def _retry_or(view: View, end: End, seen: SeenWorkload | None = None) -> End:
    """Another attempt where the end was not the application's own and one is left, else the end itself."""
    killed = end.reason is Reason.APPLICATION_FAILED and _was_killed(seen)
    if view.attempts_left <= 0 or not (end.reason in RETRIED or killed):
        return end
    facts = {**end.facts, "cause": end.reason.value}
    return End(JobState.QUEUED, Reason.REQUEUED, end.times, facts, end.exit_code)


def _was_killed(seen: SeenWorkload | None) -> bool:
    """Ended by KILL for no reason the cluster knows: a program's own error exits with a code."""
    unexplained = ("", EndCause.ERROR, EndCause.KILLED)
    return seen is not None and any(
        m.phase is Phase.FAILED and m.signal == SIGKILL and m.reason in unexplained for m in seen.members
    )


def _first_code(seen: SeenWorkload) -> int | None:
    return next((m.exit_code for m in seen.members if m.exit_code is not None), None)


def _ran(times: Times) -> int | None:
    if times.started_at is None or times.stopped_at is None:
        return None
    return _ms(times.stopped_at - times.started_at)


def _ms(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def _instant(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
