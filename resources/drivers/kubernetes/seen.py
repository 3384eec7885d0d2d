"""Jobs and pods as the portal's contract sees them. Pure: JSON of the API in, plain facts out."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from resources.drivers.base import EndCause, Phase, SeenMember, SeenWorkload
from resources.drivers.kubernetes import names

Json = Mapping[str, Any]
_SECOND = timedelta(seconds=1)
_SOON = timedelta(seconds=3)
CUT = timedelta(seconds=2)
"""How far a time of the API may lie before the true one: the cut to a second, and what the clocks' gap is not known
to."""
POD_REFUSED = "FailedCreate"
NOTHING_REFUSED: Mapping[str, str] = {}
_SIGNAL_BASE, _MOST_SIGNAL = 128, 64
_MOST_MEMBERS = 100_000
_LONGEST_GRACE_S = 366 * 86_400
# Why the cluster itself ended a pod (condition DisruptionTarget), in the contract's words where it has one.
_DISRUPTIONS = {"TerminationByKubelet": EndCause.HOST_STOPPING, "PreemptionByScheduler": "Preempted"}
# Reasons of a pod's status that say more than those of its container.
_OF_POD = {"DeadlineExceeded": EndCause.TIME_LIMIT, "Evicted": "Evicted", "NodeLost": "NodeLost"}
_START_FAILURES = frozenset({"StartError", "ContainerCannotRun", "CreateContainerError", "RunContainerError"})


def workloads_of(
    jobs: Iterable[Json], pods: Iterable[Json], now: datetime, refused: Mapping[str, str] = NOTHING_REFUSED
) -> tuple[SeenWorkload, ...]:
    """One for every attempt that left a Job or a pod, in order of name. `refused` is what was said, by uid of the Job,
    when its pods were refused.

    A Job that somebody copied carries the labels of the attempt too: it is told apart by its name, its pods by whose
    they are, and neither is ours.
    """
    made = {(_label(job, names.ATTEMPT), str(job["metadata"]["name"])): job for job in jobs if not is_copy(job)}
    kept: dict[tuple[str, str], list[Json]] = {key: [] for key in made if key[0]}
    for pod in pods:
        if is_copy(pod):
            continue
        key = (_label(pod, names.ATTEMPT), job_name_of(pod, orphaned=True))
        if all(key) and belongs(pod, key[1], orphaned=key not in made):
            kept.setdefault(key, []).append(pod)
    found = [
        _workload(name, attempt, made.get((attempt, name)), mine, now, refused)
        for (attempt, name), mine in kept.items()
    ]
    return tuple(sorted(found, key=lambda one: one.name))


def without_pods(jobs: Iterable[Json], pods: Iterable[Json], now: datetime) -> bool:
    """Whether a Job of ours has waited a while for the first of its pods, and nobody asked it to end."""
    born = {job_name_of(pod, orphaned=False) for pod in pods}
    return any(
        (names.moment_of(_annotations(job).get(names.APPLIED_AT)) or now) < now - _SOON
        for job in jobs
        if job["metadata"]["name"] not in born and names.STOP_ASKED_AT not in _annotations(job) and not _failure(job)[0]
    )


def belongs(pod: Json, name: str, *, orphaned: bool) -> bool:
    """Whether a pod is of the Job of this name, whatever labels say; with `orphaned` also one that nobody controls."""
    return bool(name) and job_name_of(pod, orphaned=orphaned) == name


def job_name_of(pod: Json, *, orphaned: bool) -> str:
    """The Job that controls it; with `orphaned`, of one that nothing controls, the Job that its label names."""
    owners = pod["metadata"].get("ownerReferences") or []
    controller = next((one for one in owners if one.get("controller")), None)
    if controller is not None:
        return str(controller.get("name") or "") if controller.get("kind") == "Job" else ""
    return _label(pod, names.JOB_NAME) if orphaned else ""


def is_copy(thing: Json) -> bool:
    """Whether somebody made it from a Job of ours, or a pod of one: it is of another Job than it was made for."""
    told = _annotations(thing).get(names.WORKLOAD)
    own = job_name_of(thing, orphaned=True) if "spec" in thing and "containers" in thing["spec"] else _name(thing)
    return isinstance(told, str) and bool(told) and told != own


def _name(thing: Json) -> str:
    return str((thing.get("metadata") or {}).get("name") or "")


def terminal(pod: Json) -> bool:
    """Whether it holds nothing any more."""
    return _status(pod).get("phase") in ("Succeeded", "Failed")


def _workload(
    name: str, attempt: str, job: Json | None, pods: list[Json], now: datetime, refused: Mapping[str, str]
) -> SeenWorkload:
    source = job or pods[0]
    about = _annotations(source)
    count = names.number_of(about.get(names.MEMBER_COUNT)) or 0
    count = count if 0 < count <= _MOST_MEMBERS else len(pods)
    stop = names.moment_of(_annotations(job or {}).get(names.STOP_ASKED_AT))
    failed = _failure(job)
    why = refused.get(str(job["metadata"].get("uid")), "") if job is not None else ""
    gang = about.get(names.GANG) == "true" and count > 1
    newest: dict[int, Json] = {}
    for pod in sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp", ""))):
        newest[names.number_of(_annotations(pod).get(names.INDEX)) or 0] = pod
    members = [
        _member(index, newest[index], stop, about, now) if index in newest else _absent(index, job, stop, failed, why)
        for index in range(count)
    ]
    return SeenWorkload(
        name=name,
        job_id=_label(source, names.JOB),
        attempt_id=attempt,
        generation=names.number_of(about.get(names.GENERATION)) or 0,
        members=_blamed(tuple(members), newest) if gang else tuple(members),
        stopping=stop is not None,
    )


def _member(index: int, pod: Json, stop: datetime | None, about: Json, now: datetime) -> SeenMember:
    status, container = _status(pod), _container(pod)
    state = container.get("state") or {}
    ended = state.get("terminated") or {}
    phase = _phase(pod, now)
    applied = names.moment_of(about.get(names.APPLIED_AT))
    bound = _later(_since(status, "PodScheduled", "True"), applied)
    begun = (state.get("running") or ended).get("startedAt")
    started = _later(names.moment_of(begun), bound)
    finished = _later(_finished(pod, ended), started or bound) if phase in (Phase.SUCCEEDED, Phase.FAILED) else None
    code = ended.get("exitCode") if isinstance(ended.get("exitCode"), int) else None
    signal = _signal(ended, code)
    phase, reason = _why(pod, phase, ended, stop, finished)
    return SeenMember(
        index=index,
        node=str(pod["spec"].get("nodeName") or ""),
        phase=phase,
        bound_at=bound,
        started_at=started,
        ready_at=_later(_since(status, "Ready", "True"), started),
        finished_at=finished,
        exit_code=None if signal else code,
        signal=signal,
        reason=names.shown(reason),
        message=names.shown(_message(pod, state)),
        uid=str(pod["metadata"].get("uid", "")),
    )


def _phase(pod: Json, now: datetime) -> Phase:
    """Where the pod stands. One whose node went silent while it was to be deleted is unknown, for ever if need be."""
    word = _status(pod).get("phase")
    if word in ("Succeeded", "Failed"):
        return Phase(word)
    deadline = names.moment_of(pod["metadata"].get("deletionTimestamp"))
    by_node = _disruption(pod) in ("DeletionByTaintManager", "DeletionByPodGC")
    if word == "Unknown" or (by_node and deadline is not None and deadline < now):
        return Phase.UNKNOWN
    return Phase.RUNNING if word == "Running" else Phase.PENDING


def _why(pod: Json, phase: Phase, ended: Json, stop: datetime | None, finished: datetime | None) -> tuple[Phase, str]:
    """The phase as it counts, and the word for it."""
    match phase:
        case Phase.PENDING:
            return phase, _waiting(pod)
        case Phase.UNKNOWN:
            return phase, "NodeLost"
        case Phase.RUNNING:
            return phase, ""
    outside = _from_outside(pod, ended)
    if outside:
        return Phase.FAILED, outside
    if "deletionTimestamp" in pod["metadata"] and not _was_over(pod, phase, stop, finished):
        # Somebody asked it to end, we or another: what it said while ending is no success.
        return Phase.FAILED, EndCause.STOPPED if stop is not None else EndCause.KILLED
    word = str(ended.get("reason") or "")
    if word in _START_FAILURES:
        return Phase.FAILED, EndCause.START_FAILED
    reason = word or str(_status(pod).get("reason") or "")
    return phase, reason or (EndCause.COMPLETED if phase is Phase.SUCCEEDED else EndCause.ERROR)


def _from_outside(pod: Json, ended: Json) -> str:
    """Why the cluster ended it; "" when the cluster does not say that it did."""
    word = str(_status(pod).get("reason") or "")
    if word in _OF_POD:
        return _OF_POD[word]
    disruption = _disruption(pod) if ended.get("exitCode") != 0 else ""
    return _DISRUPTIONS.get(disruption, disruption)


def _was_over(pod: Json, phase: Phase, stop: datetime | None, finished: datetime | None) -> bool:
    """Whether it had ended before anybody asked it to."""
    about = pod["metadata"]
    asked = stop or names.moment_of(about.get("deletionTimestamp"))
    seconds = min(about.get("deletionGracePeriodSeconds") or 0, _LONGEST_GRACE_S) if stop is None else 0
    # The API cuts the end to a whole second: in the second of the question it counts as an answer to it.
    return finished is not None and asked is not None and finished + _SECOND <= asked - timedelta(seconds=seconds)


def _blamed(members: tuple[SeenMember, ...], pods: Mapping[int, Json]) -> tuple[SeenMember, ...]:
    """In a gang the first failure is the cause; members deleted after it ended because of it."""
    guilty = [m for m in members if m.phase is Phase.FAILED and m.reason not in (EndCause.KILLED, EndCause.STOPPED)]
    if not guilty:
        return members
    return tuple(
        _because(m) if m.reason == EndCause.KILLED and m.phase is Phase.FAILED and m not in guilty else m
        for m in members
    )


def _because(member: SeenMember) -> SeenMember:
    return replace(member, reason=EndCause.GANG_FAILED)


def _absent(
    index: int, job: Json | None, stop: datetime | None, failed: tuple[str, str, datetime | None], refused: str
) -> SeenMember:
    """A member without a pod: not made yet, or never to be."""
    if stop is not None:
        return SeenMember(index, "", Phase.FAILED, finished_at=stop, reason=EndCause.STOPPED)
    reason, message, at = failed
    if reason:
        word = EndCause.GANG_FAILED if reason == "BackoffLimitExceeded" else reason
        return SeenMember(index, "", Phase.FAILED, finished_at=at, reason=word, message=message)
    if job is None:
        return SeenMember(index, "", Phase.UNKNOWN)
    return SeenMember(index, "", Phase.PENDING, reason=POD_REFUSED if refused else "", message=names.shown(refused))


def _failure(job: Json | None) -> tuple[str, str, datetime | None]:
    """(reason, message, when) of a Job that has failed for good; "" otherwise."""
    for condition in _status(job or {}).get("conditions") or []:
        if condition.get("type") == "Failed" and condition.get("status") == "True":
            at = names.moment_of(condition.get("lastTransitionTime"))
            return names.shown(condition.get("reason") or "Failed"), names.shown(condition.get("message") or ""), at
    return "", "", None


def _finished(pod: Json, ended: Json) -> datetime | None:
    """When its container ended; a pod that had none to end: when its conditions last said so."""
    moments = [names.moment_of(c.get("lastTransitionTime")) for c in _status(pod).get("conditions") or []]
    known = [moment for moment in moments if moment is not None]
    begun = names.moment_of(pod["metadata"].get("creationTimestamp"))
    return names.moment_of(ended.get("finishedAt")) or max(known, default=begun)


def _waiting(pod: Json) -> str:
    state = (_container(pod).get("state") or {}).get("waiting") or {}
    if state.get("reason"):
        return str(state["reason"])
    for condition in _status(pod).get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return str(condition.get("reason") or "Unschedulable")
    return ""


def _message(pod: Json, state: Json) -> str:
    """What the cluster says about it, the container's words first."""
    for part in (state.get("terminated"), state.get("waiting"), _status(pod)):
        if part and part.get("message"):
            return str(part["message"])
    for condition in _status(pod).get("conditions") or []:
        if condition.get("status") != "True" and condition.get("type") == "PodScheduled" and condition.get("message"):
            return str(condition["message"])
    return ""


def _signal(ended: Json, code: int | None) -> int | None:
    """The signal that ended it: kubelets say 128 + its number."""
    if isinstance(ended.get("signal"), int) and ended["signal"] > 0:
        return int(ended["signal"])
    return code - _SIGNAL_BASE if code is not None and _SIGNAL_BASE < code <= _SIGNAL_BASE + _MOST_SIGNAL else None


def _disruption(pod: Json) -> str:
    for condition in _status(pod).get("conditions") or []:
        if condition.get("type") == "DisruptionTarget" and condition.get("status") == "True":
            return str(condition.get("reason") or "DisruptionTarget")
    return ""


def _since(status: Json, kind: str, value: str) -> datetime | None:
    for condition in status.get("conditions") or []:
        if condition.get("type") == kind and condition.get("status") == value:
            return names.moment_of(condition.get("lastTransitionTime"))
    return None


def _later(moment: datetime | None, floor: datetime | None) -> datetime | None:
    """The API cuts times to whole seconds: nothing happened before what it followed. What is farther off than that
    comes from a clock that is wrong, and is told as it is."""
    if moment is None or floor is None or floor - moment > CUT:
        return moment
    return max(moment, floor)


def _status(thing: Json) -> Json:
    return thing.get("status") or {}


def _container(pod: Json) -> Json:
    for one in _status(pod).get("containerStatuses") or []:
        if one.get("name") == names.CONTAINER:
            return dict(one)
    return {}


def _annotations(thing: Json) -> Json:
    return (thing.get("metadata") or {}).get("annotations") or {}


def _label(thing: Json, key: str) -> str:
    return str(((thing.get("metadata") or {}).get("labels") or {}).get(key, ""))
