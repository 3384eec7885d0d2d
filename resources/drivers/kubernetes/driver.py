"""The driver of a Kubernetes cluster: one Indexed Job for every attempt, known by name, fenced by generation.

What is, is read from full lists; a list that may be partial proves no absence. Pods keep a finalizer of ours until the
portal has kept what they say, so that a deletion by anybody loses no evidence.
"""

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from typing import Any, TypeVar

from portal.lib.failpoints import failpoint
from resources.drivers.base import (
    NAMESPACE_ENDING,
    Capability,
    DriverUnavailable,
    Idle,
    Inventory,
    Observation,
    ReleaseReading,
    Topic,
    Workload,
    WorkloadRejected,
)
from resources.drivers.facts import ClusterFacts
from resources.drivers.kubernetes import fence, names
from resources.drivers.kubernetes.absence import Absence
from resources.drivers.kubernetes.api import STRATEGIC, Api, Listing, Refused
from resources.drivers.kubernetes.asked import pod_use, requests_of, uses_of
from resources.drivers.kubernetes.build import job_of
from resources.drivers.kubernetes.clock import in_our_time
from resources.drivers.kubernetes.connection import Connection, Right
from resources.drivers.kubernetes.ear import Ear
from resources.drivers.kubernetes.events import refused_pods
from resources.drivers.kubernetes.inventory import DEVICE_INFO, NodeReader, by_node, name_of
from resources.drivers.kubernetes.logs import LogReader, Places, Silence
from resources.drivers.kubernetes.marks import generation_of, granted_by, index_of, is_stopped, label_of
from resources.drivers.kubernetes.namespace import Fate, Home
from resources.drivers.kubernetes.review import asker
from resources.drivers.kubernetes.seen import belongs, is_copy, terminal, without_pods, workloads_of
from resources.drivers.kubernetes.sheet import Signals, read_facts, signals_of
from resources.normalize import Catalogue, load_catalogue

Json = dict[str, Any]
T = TypeVar("T")
log = logging.getLogger(__name__)
MOST_COPIES = 20
"""Copies that are let go of in one look."""
ISOLATION = "Every job runs in a pod of its own, under the restricted Pod Security standard."
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_LIVE = "status.phase!=Succeeded,status.phase!=Failed"
_SLICES = "/apis/resource.k8s.io/v1/resourceslices"


class KubernetesDriver:
    """See `resources.drivers.base.Driver`."""

    def __init__(
        self,
        *,
        connection: Connection,
        catalogue: Catalogue | None = None,
        api: Api | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._api = api or Api(connection)
        self._absence = Absence(self._api)
        self._catalogue = catalogue or load_catalogue()
        self._clock = clock
        self._silence, self._places = Silence(), Places()
        self._signals: Signals | None = None
        self._namespace = connection.namespace
        self._home = Home(self._api, self._namespace)
        self._jobs = f"/apis/batch/v1/namespaces/{self._namespace}/jobs"
        self._pods = f"/api/v1/namespaces/{self._namespace}/pods"
        self._ear = Ear(self._api, self._pods)

    def capability(self) -> Capability:
        """What works here; asks nothing."""
        return Capability(isolation=True, isolation_detail=ISOLATION, services=False)

    def listen(self, topic: Topic, *, seconds: float, hint: Callable[[], None]) -> None:
        """Of pods of ours and of nodes, once they were listed. See `resources.drivers.base.Listener`."""
        if self._api.has(Right.RUNNER if topic is Topic.WORKLOADS else Right.OBSERVER):
            self._ear.listen(topic, seconds=seconds, hint=hint)

    # -- what is there -------------------------------------------------------------------------------------------------

    def inventory(self) -> Inventory:
        """Nodes with everybody's requests taken into account. Raises DriverUnavailable."""
        at = self._clock()
        pods = self._each("/api/v1/pods", partial(pod_use, namespace=self._namespace), fieldSelector=_LIVE)
        slices = self._each(_SLICES, _as_it_is, absent=(403, 404))
        reader = NodeReader(
            self._catalogue, uses_of(pods.items), by_node(slices.items), lru_cache(maxsize=1)(self._plugin_lists)
        )
        nodes = self._absence.checked("/api/v1/nodes", self._each("/api/v1/nodes", reader.read), right=Right.OBSERVER)
        seen = tuple(node for node in nodes.items if node is not None)
        self._signals = signals_of(seen, pods.items, complete=nodes.complete and pods.complete)
        clock = self._api.cluster_clock.reading()
        return Inventory(nodes=seen, at=at, complete=nodes.complete and pods.complete, clock=clock)

    def facts(self) -> ClusterFacts | None:
        """Storage, classes, extensions, schedulers; some of it as the newest inventory saw it."""
        return read_facts(self._api, self._signals, self._clock())

    def _plugin_lists(self) -> dict[str, Json]:
        """What Ascend's plugin keeps in ConfigMaps, by node."""
        found = self._each("/api/v1/namespaces/kube-system/configmaps", _device_list, absent=(403, 404))
        return {name_of(one).removeprefix(DEVICE_INFO): one for one in found.items if one is not None}

    def _each(self, path: str, keep: Callable[[Json], T], *, absent: tuple[int, ...] = (), **query: str) -> Listing[T]:
        try:
            return self._api.each(path, keep, right=Right.OBSERVER, **query)
        except Refused as refusal:
            if refusal.status in absent:
                return Listing((), complete=False)
            raise _unavailable(refusal) from refusal

    # -- one workload --------------------------------------------------------------------------------------------------

    def apply(self, workload: Workload) -> None:
        """GET by name, POST on 404 only. Raises WorkloadRejected and DriverUnavailable."""
        try:
            self._apply(workload)
        except DriverUnavailable as error:
            if self._home.after(error) is Fate.THERE:
                raise
            raise WorkloadRejected(f"{self._namespace} is being deleted", reason="NamespaceMissing") from error

    def _apply(self, workload: Workload) -> None:
        try:
            self._check_fence(workload)
            known = self._job(workload.name)
            if known is not None:
                self._check_owner(known, workload)
                return
            job = job_of(workload, namespace=self._namespace, applied_at=self._clock())
            failpoint("kubernetes.apply.before_create")
            self._create(job, workload)
            failpoint("kubernetes.apply.after_create")
        except Refused as refusal:
            raise _unavailable(refusal) from refusal

    def _create(self, job: Json, workload: Workload) -> None:
        try:
            self._api.create(self._jobs, job, right=Right.RUNNER, fieldValidation="Strict")
        except Refused as refusal:
            if refusal.status == 409 and refusal.reason == "AlreadyExists":
                known = self._job(workload.name)
                if known is None:
                    raise DriverUnavailable(str(refusal), reason="Conflict") from refusal
                self._check_owner(known, workload)
                return
            if refusal.status == 403 and self._may_create() is False:
                raise
            if refusal.status in (400, 403, 404, 422):
                reason = "NamespaceMissing" if refusal.status == 404 else refusal.reason or "Refused"
                raise WorkloadRejected(refusal.message, reason=reason) from refusal
            raise

    def _may_create(self) -> bool | None:
        """Whether the runner may make Jobs at all: what a credential lacks is no fault of the job."""
        wanted = {"verb": "create", "group": "batch", "resource": "jobs", "namespace": self._namespace}
        return asker(self._api)(Right.RUNNER, wanted)

    def _check_fence(self, workload: Workload) -> None:
        """No attempt beside a newer one, nor one that was closed. Raises WorkloadRejected (`FencedOut`)."""
        others = self._list(self._jobs, labelSelector=f"{names.JOB}={workload.job_id}")
        newer = [
            job
            for job in others.items
            if label_of(job, names.ATTEMPT) != workload.attempt_id and generation_of(job) >= workload.generation
        ]
        if newer or fence.closed_generation(self._api, self._namespace, workload.job_id) >= workload.generation:
            raise WorkloadRejected(f"{workload.name}: a newer attempt is known", reason="FencedOut")

    def _check_owner(self, job: Json, workload: Workload) -> None:
        if label_of(job, names.ATTEMPT) != workload.attempt_id:
            raise WorkloadRejected(f"{workload.name} belongs to something else", reason="NameTaken")

    def observe(self) -> Observation:
        """From full lists of Jobs and pods, their times put into the portal's. Raises DriverUnavailable."""
        at = self._clock()
        try:
            jobs, pods = self._listed()
        except DriverUnavailable as error:
            jobs, pods = self._left(error)
        self._let_copies_go(pods.items)
        refused = refused_pods(self._api, self._namespace) if without_pods(jobs.items, pods.items, at) else {}
        ahead = self._api.cluster_clock.ahead
        workloads = workloads_of(
            in_our_time(list(jobs.items), ahead), in_our_time(list(pods.items), ahead), at, refused
        )
        return Observation(workloads, at, complete=jobs.complete and pods.complete, until=self._clock())

    def _listed(self) -> tuple[Listing[Json], Listing[Json]]:
        """Jobs and pods, with the runner's rights."""
        try:
            jobs = self._absence.checked(
                self._jobs, self._list(self._jobs, labelSelector=names.ATTEMPT), right=Right.RUNNER
            )
            pods = self._absence.checked(
                self._pods, self._list(self._pods, labelSelector=names.ATTEMPT), right=Right.RUNNER
            )
        except Refused as refusal:
            raise _unavailable(refusal) from refusal
        return jobs, pods

    def _left(self, error: DriverUnavailable) -> tuple[Listing[Json], Listing[Json]]:
        """Jobs and pods of a namespace that is going: no pod is made in it any more. Raises the error otherwise."""
        pods = self._pods_left(error, names.ATTEMPT)
        return Listing((), complete=pods.complete), pods

    def _pods_left(self, error: DriverUnavailable, selector: str) -> Listing[Json]:
        match self._home.after(error):
            case Fate.GONE:
                return Listing((), complete=True)
            case Fate.ENDING:
                return self._each(self._pods, _as_it_is, labelSelector=selector)
        raise error

    def _let_copies_go(self, pods: Iterable[Json]) -> None:
        """Take our finalizer off pods that are not ours and got it by copying, a few at a time, and nothing else."""
        marked = (pod for pod in pods if is_copy(pod) and names.EVIDENCE in (pod["metadata"].get("finalizers") or []))
        for pod in islice(marked, MOST_COPIES):
            try:
                self._take_off(pod)
            except Refused:
                log.warning("the finalizer of %s, a copy, could not be taken off", pod["metadata"]["name"])

    def stop(self, name: str, *, attempt_id: str, grace_ms: int) -> None:
        """Mark the Job, let it make no more pods, and ask each pod to end. At least a second of grace: with none the
        API server would forget a pod before its node has ended it. In a namespace that is going all were asked."""
        try:
            self._stop(name, attempt_id, grace_ms)
        except DriverUnavailable as error:
            if self._home.after(error) is Fate.THERE:
                raise

    def _stop(self, name: str, attempt_id: str, grace_ms: int) -> None:
        try:
            job = self._job(name)
            if job is not None and label_of(job, names.ATTEMPT) != attempt_id:
                return
            if job is not None and names.STOP_ASKED_AT not in (job["metadata"].get("annotations") or {}):
                mark = {names.STOP_ASKED_AT: names.stamp(self._clock())}
                about = {"uid": job["metadata"]["uid"], "annotations": mark}
                body = {"metadata": about, "spec": {"parallelism": 0}}
                self._api.patch(f"{self._jobs}/{name}", body, right=Right.RUNNER)
            failpoint("kubernetes.stop.after_mark")
            # Pods outlive a Job that somebody deleted without them.
            for pod in self._pods_of(name, attempt_id, orphaned=job is None).items:
                if not terminal(pod):
                    path = f"{self._pods}/{pod['metadata']['name']}"
                    uid, grace = pod["metadata"]["uid"], max(1, -(-grace_ms // 1_000))
                    self._api.delete(path, right=Right.RUNNER, uid=uid, grace_s=grace)
        except Refused as refusal:
            raise _unavailable(refusal) from refusal

    def release(self, name: str, *, attempt_id: str) -> ReleaseReading:
        """From a list read now: what ended holds nothing. No level three: nothing here watches devices."""
        at = self._clock()
        pods = self._pods_of(name, attempt_id, orphaned=True)
        try:
            job = self._job(name)
        except Refused as refusal:
            if self._home.after(_unavailable(refusal)) is Fate.THERE:
                raise _unavailable(refusal) from refusal
            job = None
        jobs = [job] if job is not None and label_of(job, names.ATTEMPT) == attempt_id else []
        live = [pod for pod in pods.items if not terminal(pod)]
        ended = pods.complete
        held = [requests_of(pod.get("spec") or {}) for pod in live]
        unborn = [job for job in jobs if not pods.items and not is_stopped(job)]
        return ReleaseReading(
            at=at,
            objects_left=len(live) + len(unborn) if ended else None,
            used_cpu_milli=sum(one.get("cpu", 0) for one in held) if ended else None,
            used_memory_bytes=sum(one.get("memory", 0) for one in held) if ended else None,
            devices={uuid: Idle.NOT_OBSERVED for job in jobs for uuid in granted_by(job)},
        )

    def logs(self, name: str, *, member: int, offset: int, limit: int) -> tuple[bytes, int]:
        """Read from its node, from where the last piece ended. Nothing for what has no pod."""
        if not _NAME.fullmatch(name):
            return b"", max(0, offset)
        try:
            pods = self._list(self._pods, labelSelector=f"{names.ATTEMPT},{names.JOB_NAME}={name}")
        except DriverUnavailable as error:
            if self._home.after(error) is Fate.THERE:
                raise
            raise DriverUnavailable(f"{self._namespace} is being deleted", reason=NAMESPACE_ENDING) from error
        mine = [pod for pod in pods.items if index_of(pod) == member and belongs(pod, name, orphaned=True)]
        if not mine:
            return b"", max(0, offset)
        newest = max(mine, key=lambda pod: str(pod["metadata"].get("creationTimestamp", "")))
        about, node = newest["metadata"], str(newest["spec"].get("nodeName") or "")
        path = f"{self._pods}/{about['name']}/log"
        reader = LogReader(self._api, path, pod=about["uid"], node=node, places=self._places)
        with self._silence.of(node):
            return reader.read(offset, limit)

    def forget(self, name: str, *, attempt_id: str) -> None:
        """Close the attempt, then let go of its pods and delete its Job.

        Raises DriverUnavailable while it runs, and (`NamespaceEnding`) when its pods stay in a namespace that is going.
        """
        try:
            self._forget(name, attempt_id)
        except DriverUnavailable as error:
            selector = f"{names.ATTEMPT}={attempt_id},{names.JOB_NAME}={name}"
            if left := self._pods_left(error, selector).items:
                detail = f"{len(left)} pods in {self._namespace}, which is being deleted"
                raise DriverUnavailable(detail, reason=NAMESPACE_ENDING) from error

    def _forget(self, name: str, attempt_id: str) -> None:
        try:
            job = self._job(name)
            if job is not None and label_of(job, names.ATTEMPT) != attempt_id:
                return
            pods = self._pods_of(name, attempt_id, orphaned=job is None)
            if not pods.complete or any(not terminal(pod) for pod in pods.items):
                raise DriverUnavailable(f"{name} has not ended", reason="StillRunning")
            source = job or (pods.items[0] if pods.items else None)
            if source is None:
                return
            fence.close(self._api, self._namespace, label_of(source, names.JOB), generation_of(source), self._clock())
            failpoint("kubernetes.forget.after_fence")
            if job is not None:
                self._api.delete(f"{self._jobs}/{name}", right=Right.RUNNER, uid=job["metadata"]["uid"])
            for pod in pods.items:
                self._let_go(pod)
        except Refused as refusal:
            raise _unavailable(refusal) from refusal

    def _let_go(self, pod: Json) -> None:
        self._take_off(pod)
        about = pod["metadata"]
        self._api.delete(f"{self._pods}/{about['name']}", right=Right.RUNNER, uid=about["uid"], grace_s=0)

    def _take_off(self, pod: Json) -> None:
        """Only our finalizer: the Job controller takes its own off meanwhile, and a list as we know it would bring it
        back."""
        about = pod["metadata"]
        ours = {"uid": about["uid"], "$deleteFromPrimitiveList/finalizers": [names.EVIDENCE]}
        try:
            path = f"{self._pods}/{about['name']}"
            self._api.patch(path, {"metadata": ours}, right=Right.RUNNER, kind=STRATEGIC)
        except Refused as refusal:
            if refusal.status not in (404, 409):
                raise

    # -- calls ---------------------------------------------------------------------------------------------------------

    def _job(self, name: str) -> Json | None:
        if not _NAME.fullmatch(name):
            return None
        try:
            return self._api.get(f"{self._jobs}/{name}", right=Right.RUNNER)
        except Refused as refusal:
            if refusal.status == 404:
                return None
            raise

    def _pods_of(self, name: str, attempt_id: str, *, orphaned: bool) -> Listing[Json]:
        """Labels find them, their controller says whose they are: labels get copied. `orphaned`: also without one."""
        if not (_NAME.fullmatch(name) and _LABEL.fullmatch(attempt_id)):
            return Listing((), complete=True)
        selector = f"{names.ATTEMPT}={attempt_id},{names.JOB_NAME}={name}"
        try:
            found = self._list(self._pods, labelSelector=selector)
        except DriverUnavailable as error:
            found = self._pods_left(error, selector)
        return replace(found, items=tuple(pod for pod in found.items if belongs(pod, name, orphaned=orphaned)))

    def _list(self, path: str, **query: str) -> Listing[Json]:
        try:
            return self._api.list(path, right=Right.RUNNER, **query)
        except Refused as refusal:
            raise _unavailable(refusal) from refusal


def _as_it_is(item: Json) -> Json:
    return item


def _device_list(one: Json) -> Json | None:
    return one if name_of(one).startswith(DEVICE_INFO) else None


def _unavailable(refusal: Refused) -> DriverUnavailable:
    return DriverUnavailable(str(refusal), reason="AccessDenied" if refusal.status == 403 else "Refused")
