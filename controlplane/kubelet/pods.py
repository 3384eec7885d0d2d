"""The life of fake pods: each step is a status written to the API server, at the time its script says."""

import datetime
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from controlplane.api import Api, Refused
from controlplane.kubelet import status
from controlplane.kubelet.clock import Clock
from controlplane.kubelet.events import Events
from controlplane.kubelet.informer import Informer
from controlplane.kubelet.nodes import Nodes
from controlplane.kubelet.script import Script, script_of

Json = dict[str, Any]
RESTART_SECONDS = 1.0
KILLED, TERMINATED = 137, 143


@dataclass(slots=True)
class Life:
    """One pod on one of our nodes. `turn` counts its steps: a step planned in an earlier turn is void.

    The lock is held during a step: the watch and the clock move pods from several threads.
    """

    pod: Json
    script: Script | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)
    turn: int = 0
    started: datetime.datetime | None = None
    ended: datetime.datetime | None = None
    finished: bool = False
    stopping: bool = False
    polite: bool = False
    grace: float = 0.0
    restarts: int = 0
    due: list[tuple[Callable[..., None], tuple[Any, ...]]] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The pod in the API."""
        metadata = self.pod["metadata"]
        return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"

    @property
    def told(self) -> Script:
        """The script of a pod that was accepted."""
        assert self.script
        return self.script

    @property
    def node(self) -> str:
        """The node it is bound to."""
        name: str = self.pod["spec"]["nodeName"]
        return name


class Pods:
    """Every pod bound to one of our nodes, by uid."""

    def __init__(self, api: Api, clock: Clock, events: Events) -> None:
        self.api = api
        self.clock = clock
        self.events = events
        self.nodes: Nodes
        self.lives: dict[str, Life] = {}
        self.informer = Informer(api, "/api/v1/pods", self._seen, fieldSelector="spec.nodeName!=")

    def start(self, nodes: Nodes) -> None:
        """Watch the pods and play those on the nodes."""
        self.nodes = nodes
        self.informer.start()

    def thawed(self, node: str) -> None:
        """Catch up with the pods of a node that is played again: what was due is done now."""
        for pod in list(self.informer.known.values()):
            if pod["spec"].get("nodeName") == node:
                self._seen("MODIFIED", pod)
        for life in [life for life in self.lives.values() if life.node == node]:
            planned, life.due = life.due, []
            for function, arguments in planned:
                self.clock.soon(self._step, life, life.turn, function, *arguments)

    def _seen(self, kind: str, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        if kind == "DELETED":
            self.lives.pop(uid, None)
            return
        if not self.nodes.plays(pod["spec"].get("nodeName")):
            return
        life = self.lives.get(uid)
        if life is None:
            if pod["status"].get("phase") in ("Succeeded", "Failed") and "deletionTimestamp" not in pod["metadata"]:
                return
            life = self.lives[uid] = Life(pod)
            self.clock.soon(self._accept, life)
            return
        life.pod = pod
        if "deletionTimestamp" in pod["metadata"]:
            self.clock.soon(self._consider_stop, life)

    def _accept(self, life: Life) -> None:
        with life.lock:
            try:
                life.script = self._script(life.pod)
            except ValueError as error:
                life.script = Script()
                sys.stderr.write(f"{life.path}: {error}\n")
                self._fail_at_once(life, "BadScript", str(error))
            else:
                self._take_up(life)
        self._consider_stop(life)

    def _take_up(self, life: Life) -> None:
        limit = life.pod["spec"].get("activeDeadlineSeconds")
        if limit:
            self.clock.later(limit, self._deadline, life)
        phase = life.pod["status"].get("phase")
        if phase == "Running":  # a kubelet that was started again: the run goes on as if it began now
            life.started = _now()
            self._plan_end(life)
        elif phase == "Pending":
            self._begin(life)

    def _script(self, pod: Json) -> Script:
        """A pod that speaks for itself needs no look at its namespace."""
        own = script_of(pod, {}, {})
        if any(key.startswith("fake-kubelet/") for key in pod["metadata"].get("annotations") or {}):
            return own
        namespace = self.api.get(f"/api/v1/namespaces/{pod['metadata']['namespace']}")
        return script_of(pod, namespace, self.nodes.ours.get(pod["spec"]["nodeName"], {}))

    def _begin(self, life: Life) -> None:
        script = life.told
        if script.reject:
            self._fail_at_once(life, script.reject, script.message or f"Pod was rejected: {script.reject}")
        elif script.start_delay:
            self._next(life, script.start_delay, self._pull)
        else:
            self._pull(life)

    def _pull(self, life: Life) -> None:
        script, image = life.told, life.pod["spec"]["containers"][0]["image"]
        if script.waiting:
            message = script.message or f'Back-off pulling image "{image}"'
            self._write(life, status.pending(life.pod, script.waiting, _now(), message))
            self.events.warning(life.pod, "Failed", f"Error: {script.waiting}")
            return
        if script.pull:
            self.events.normal(life.pod, "Pulling", f'Pulling image "{image}"')
            self._write(life, status.pending(life.pod, "ContainerCreating", _now()))
        self._next(life, script.pull, self._pulled)

    def _pulled(self, life: Life) -> None:
        if life.told.pull:
            image = life.pod["spec"]["containers"][0]["image"]
            self.events.normal(life.pod, "Pulled", f'Successfully pulled image "{image}" in {life.told.pull}s')
        if life.pod["spec"].get("initContainers") and (life.told.init or life.told.init_exit_code):
            began = _now()
            self._write(life, status.initializing(life.pod, began, began))
            self._next(life, life.told.init, self._initialized, began)
        else:
            self._run(life)

    def _initialized(self, life: Life, began: datetime.datetime) -> None:
        code = life.told.init_exit_code
        if code:
            life.finished = True
            self._write(life, status.init_failed(life.pod, code, began, _now()))
        else:
            self._run(life)

    def _run(self, life: Life) -> None:
        life.started = _now()
        ready = not life.told.never_ready
        self._write(life, status.running(life.pod, life.started, ready=ready, restarts=life.restarts))
        self.events.normal(life.pod, "Started", "Started container " + life.pod["spec"]["containers"][0]["name"])
        self._plan_end(life)

    def _plan_end(self, life: Life) -> None:
        script = life.told
        if 0 <= script.evict_after < script.duration:
            self._next(life, script.evict_after, self._evict)
        else:
            self._next(life, script.duration, self._finish)

    def _finish(self, life: Life) -> None:
        code, reason = life.told.ending
        policy = life.pod["spec"].get("restartPolicy", "Always")
        if policy == "Always" or (policy == "OnFailure" and code):
            life.restarts += 1
            waiting = status.pending(life.pod, "CrashLoopBackOff", _now(), "back-off restarting", life.restarts)
            self._write(life, waiting)
            self.events.warning(life.pod, "BackOff", "Back-off restarting failed container")
            self._next(life, RESTART_SECONDS, self._run)
            return
        self._end(life, code, reason, life.told.message)

    def _evict(self, life: Life) -> None:
        message = life.told.message or "The node was low on resource: memory."
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": message}
        condition["lastTransitionTime"] = status.stamp(_now())
        self.events.warning(life.pod, "Evicted", message)
        self._end(life, KILLED, "Error", "", of_pod={"reason": "Evicted", "message": message}, condition=condition)

    def _deadline(self, life: Life) -> None:
        if not self.nodes.plays(life.node):
            self.clock.later(1.0, self._deadline, life)
            return
        with life.lock:
            if not life.finished and not life.stopping and life.script:
                grace = float(life.pod["spec"].get("terminationGracePeriodSeconds", 30))
                self._ask_to_end(life, life.script, grace, self._past_deadline)

    def _past_deadline(self, life: Life, code: int) -> None:
        message = "Pod was active on the node longer than the specified deadline"
        of_pod = {"phase": "Failed", "reason": "DeadlineExceeded", "message": message}
        self._end(life, code, "Error" if code else "Completed", "", of_pod=of_pod)

    def _fail_at_once(self, life: Life, reason: str, message: str) -> None:
        life.finished = True
        self.events.warning(life.pod, reason, message)
        self._write(life, {"phase": "Failed", "reason": reason, "message": message})

    def _end(
        self,
        life: Life,
        code: int,
        reason: str,
        message: str,
        *,
        of_pod: Json | None = None,
        condition: Json | None = None,
    ) -> None:
        if life.finished:
            return
        life.finished = True
        life.turn += 1
        now = life.ended = _now()
        written = status.ended(
            life.pod, code=code, reason=reason, message=message, started=life.started or now, now=now,
            restarts=life.restarts,
        )  # fmt: skip
        written["conditions"] += [condition] if condition else []
        self._write(life, written | (of_pod or {}))

    def _consider_stop(self, life: Life) -> None:
        """Once deletion was asked for: end within the grace period, then let the API server forget the pod."""
        with life.lock:
            asked = "deletionTimestamp" in life.pod["metadata"] and self.nodes.plays(life.node)
            grace = float(life.pod["metadata"].get("deletionGracePeriodSeconds") or 0)
            hastened = not life.stopping or (grace < life.grace and not life.finished)
            if asked and hastened and life.script and not life.script.stuck:
                life.stopping, life.grace = True, grace
                self._stop(life, life.script)

    def _stop(self, life: Life, script: Script) -> None:
        if life.finished or life.started is None:
            self._next(life, 0.0, self._forget)
            return
        self.events.normal(life.pod, "Killing", "Stopping container " + life.pod["spec"]["containers"][0]["name"])
        self._ask_to_end(life, script, life.grace, self._stopped)

    def _ask_to_end(self, life: Life, script: Script, grace: float, then: Callable[..., None]) -> None:
        """TERM now, KILL after the grace: whichever ends it."""
        life.polite = script.stop_after <= grace
        obeyed = script.stop_exit_code if script.stop_exit_code >= 0 else TERMINATED
        self._next(life, min(script.stop_after, grace), then, obeyed if life.polite else KILLED)

    def _stopped(self, life: Life, code: int) -> None:
        self._end(life, code, "Error" if code else "Completed", "")
        self._forget(life)

    def _forget(self, life: Life) -> None:
        uid = life.pod["metadata"]["uid"]
        try:
            self.api.delete(life.path, {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}})
        except Refused as refusal:
            if refusal.status not in (404, 409):
                raise

    def _next(self, life: Life, seconds: float, function: Callable[..., None], *arguments: Any) -> None:
        """The next step of the pod; it voids any step planned before."""
        life.turn += 1
        turn = life.turn
        if seconds <= 0:
            self._step(life, turn, function, *arguments)
        else:
            self.clock.later(seconds, self._step, life, turn, function, *arguments)

    def _step(self, life: Life, turn: int, function: Callable[..., None], *arguments: Any) -> None:
        with life.lock:
            if turn != life.turn or life.pod["metadata"]["uid"] not in self.lives:
                return
            if self.nodes.plays(life.node):
                function(life, *arguments)
            else:
                life.due.append((function, arguments))

    def _write(self, life: Life, body: Json) -> None:
        """Patch the pod's status; a pod that is gone or was replaced by another of its name needs none."""
        uid = life.pod["metadata"]["uid"]
        try:
            life.pod = self.api.patch(f"{life.path}/status", {"metadata": {"uid": uid}, "status": body})
        except Refused as refusal:
            if refusal.status not in (404, 409):
                raise


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
