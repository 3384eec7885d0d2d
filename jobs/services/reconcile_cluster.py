"""One pass over a cluster: compare what should be with what is, and take the next step of each attempt."""

import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial

from django.db import transaction
from django.db.models import Q

from jobs.keeping import is_resting, stays_there
from jobs.models import Attempt
from jobs.reasons import Reason
from jobs.reconcile import Action, Apply, End, Missing, Progress, Stop, decide
from jobs.rows import view_of
from jobs.selectors.workload import workload_of
from jobs.services.archive_attempt import archive_attempt
from jobs.services.end_attempt import end_attempt
from jobs.services.note_progress import note_progress
from jobs.services.prove_release import prove_release
from jobs.services.transition import transition
from jobs.states import FINAL, JobState
from jobs.turns import Turns
from portal.lib.failpoints import failpoint
from portal.lib.locks import try_session_lock
from portal.lib.queue import enqueue
from resources.drivers.base import Driver, DriverUnavailable, Observation, SeenWorkload, WorkloadRejected
from resources.models import Cluster
from resources.selectors.drivers import driver_for

log = logging.getLogger(__name__)
LATE = timedelta(minutes=2)
"""How long after the last attempt was closed a cluster is still looked at for what came late."""
STEP_S, RELEASE_S, KEEP_S, PASS_S = 6.0, 8.0, 9.0, 10.0
"""Until when, in seconds from its beginning, a pass takes next steps, proves releases, keeps what is left, and clears
what came late. One call that hangs may take it over; whoever was not visited is the first of the next pass."""


def reconcile_cluster(*, cluster: Cluster, now: datetime) -> int | None:
    """How many attempts were looked at, 0 also when the cluster does not answer; None: another pass is under way.

    Level-triggered and idempotent: it may be killed between any two lines and repeated. A workload of ours that no
    row knows is left alone: it is not proved to be nobody's. One of an attempt that is closed came late, from a call
    that was under way when its caller died: it is ended and forgotten.
    """
    with try_session_lock(f"reconcile:{cluster.pk}") as held:
        if not held:
            return None
        began = time.monotonic()
        attempts = list(_open_attempts(cluster))
        if not attempts and not _closed_lately(cluster, now):
            return 0
        try:
            driver = driver_for(cluster)
            observation = driver.observe()
        except DriverUnavailable as error:
            log.warning("cluster %s: %s", cluster.key, error.detail)
            return 0
        _visit(driver, cluster, attempts, observation, now, began)
    return len(attempts)


def _visit(
    driver: Driver,
    cluster: Cluster,
    attempts: list[Attempt],
    observation: Observation,
    now: datetime,
    began: float,
) -> None:
    """The next step of each attempt first, for they are cheap and somebody waits; then what each left."""
    marks = dict(Cluster.objects.values_list("pass_marks", flat=True).get(pk=cluster.pk))
    turns = Turns(dict(marks), time.monotonic, began)
    seen = {w.name: w for w in observation.workloads}
    for attempt in turns.of("step", [a for a in attempts if not a.ended], STEP_S):
        _guarded(partial(_step, driver, attempt, seen.get(attempt.workload_name), observation, now), attempt)
    for attempt in turns.of("release", [a for a in attempts if a.ended and a.released_at is None], RELEASE_S):
        _guarded(partial(_release, driver, attempt, seen.get(attempt.workload_name), now), attempt)
    ready = [a for a in attempts if a.released_at is not None and a.job.is_final and not is_resting(a, now)]
    for attempt in turns.of("keep", ready, KEEP_S):
        _guarded(partial(archive_attempt, driver=driver, attempt=attempt, now=now), attempt)
    known = {attempt.workload_name for attempt in attempts}
    late = {name: one for name, one in seen.items() if name not in known}
    for attempt in turns.of("clear", _closed_among(cluster, late), PASS_S):
        _guarded(partial(_clear, driver, attempt, late[attempt.workload_name]), attempt)
    if turns.marks != marks:
        Cluster.objects.filter(pk=cluster.pk).update(pass_marks=turns.marks)


def _closed_lately(cluster: Cluster, now: datetime) -> bool:
    return Attempt.objects.filter(cluster=cluster, closed=True, released_at__gt=now - LATE).exists()


def _closed_among(cluster: Cluster, seen: Mapping[str, SeenWorkload]) -> list[Attempt]:
    """Attempts that are closed and yet have something on the cluster."""
    closed = Attempt.objects.filter(cluster=cluster, closed=True, workload_name__in=seen)
    return [a for a in closed.select_related("job") if seen[a.workload_name].attempt_id == str(a.pk)]


def _clear(driver: Driver, attempt: Attempt, seen: SeenWorkload) -> None:
    job = attempt.job
    if _still_runs(seen):
        driver.stop(attempt.workload_name, attempt_id=str(attempt.pk), grace_ms=job.grace_ms)
    elif attempt.number == job.generation and job.archived_at is not None and not stays_there(job.archive_note):
        driver.forget(attempt.workload_name, attempt_id=str(attempt.pk))


def _open_attempts(cluster: Cluster) -> list[Attempt]:
    unreleased = Q(released_at__isnull=True)
    # The log of an attempt that was followed by another is kept once the job is over.
    unkept = Q(ended=True, job__state__in=[s.value for s in FINAL])
    attempts = Attempt.objects.filter(unreleased | unkept, cluster=cluster, closed=False)
    related = ("job__project__team", "job__template_version__template", "cluster")
    return list(attempts.select_related(*related).order_by("admitted_at", "id"))


def _guarded(step: Callable[[], None], attempt: Attempt) -> None:
    """One attempt's trouble does not stop the others."""
    try:
        step()
    except DriverUnavailable as error:
        log.warning("attempt %s: %s", attempt.workload_name, error.detail)
    except Exception:
        log.exception("attempt %s: this pass failed, the next one tries again", attempt.workload_name)


def _step(driver: Driver, attempt: Attempt, seen: SeenWorkload | None, observation: Observation, now: datetime) -> None:
    own = _own(attempt, seen)
    until = observation.until or observation.at
    action = decide(view_of(attempt), own, complete=observation.complete, now=now, until=until)
    _act(driver, attempt, own, action, now)


def _release(driver: Driver, attempt: Attempt, seen: SeenWorkload | None, now: datetime) -> None:
    own = _own(attempt, seen)
    if own is not None and _still_runs(own):
        driver.stop(attempt.workload_name, attempt_id=str(attempt.pk), grace_ms=attempt.job.grace_ms)
    prove_release(driver=driver, attempt=attempt, now=now)


def _own(attempt: Attempt, seen: SeenWorkload | None) -> SeenWorkload | None:
    """What was seen under its name, if it is this attempt's."""
    return seen if seen is not None and seen.attempt_id == str(attempt.pk) else None


def _act(driver: Driver, attempt: Attempt, seen: SeenWorkload | None, action: Action | None, now: datetime) -> None:
    match action:
        case Apply():
            _start(driver, attempt, now)
        case Stop():
            _stop(driver, attempt, action, now)
        case Missing():
            Attempt.objects.filter(pk=attempt.pk).update(missing_passes=attempt.missing_passes + 1)
        case Progress():
            note_progress(attempt=attempt, seen=seen, action=action, now=now)
            if action.apply:
                _apply(driver, attempt, now)
        case End():
            end_attempt(attempt=attempt, seen=seen, action=action, now=now)
        case None:
            pass


def _start(driver: Driver, attempt: Attempt, now: datetime) -> None:
    """Claim first, then ask: from here on something may exist on the cluster."""
    job = attempt.job
    if job.state == JobState.ADMITTED:
        facts = {"cluster": attempt.cluster.name}
        if not transition(job=job, to=JobState.STARTING, reason=Reason.START_REQUESTED, facts=facts, now=now):
            return
        failpoint("jobs.reconcile.after_claim")
    if job.state == JobState.STARTING and _apply(driver, attempt, now):
        failpoint("jobs.reconcile.after_apply")
        enqueue("jobs.reconcile_cluster", str(attempt.cluster_id))


def _apply(driver: Driver, attempt: Attempt, now: datetime) -> bool:
    """False when the cluster refused the workload, and the job has failed."""
    job = attempt.job
    try:
        driver.apply(workload_of(job, attempt))
    except WorkloadRejected as error:
        log.warning("cluster %s refused %s: %s", attempt.cluster.key, attempt.workload_name, error.detail)
        facts = {"cluster": attempt.cluster.name, "detail": error.reason}
        transition(
            job=job,
            to=JobState.FAILED,
            reason=Reason.REJECTED_BY_CLUSTER,
            facts=facts,
            now=now,
            attempt=attempt,
        )
        return False
    return True


def _stop(driver: Driver, attempt: Attempt, action: Stop, now: datetime) -> None:
    job = attempt.job
    if job.state != JobState.STOPPING:
        with transaction.atomic():
            moved = transition(
                job=job,
                to=JobState.STOPPING,
                reason=action.reason,
                facts=action.facts,
                now=now,
                stop_to=action.to.value,
            )
            if moved:
                Attempt.objects.filter(pk=attempt.pk).update(stop_asked_at=now)
        if not moved:
            return
        failpoint("jobs.reconcile.after_stop_intent")
    driver.stop(attempt.workload_name, attempt_id=str(attempt.pk), grace_ms=job.grace_ms)


def _still_runs(seen: SeenWorkload) -> bool:
    return any(member.finished_at is None and member.phase in ("Pending", "Running") for member in seen.members)
