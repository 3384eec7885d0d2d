"""The fact sheet of a cluster: storage, classes, extensions, schedulers, metrics, each present, absent or not observed.

A subject the observer may not read is not observed, whatever else is known; so is one of which only a part was had.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from resources.drivers.base import SeenNode
from resources.drivers.facts import ClusterFacts, Presence, Topic
from resources.drivers.kubernetes.api import NAMES_ONLY, Api, Refused
from resources.drivers.kubernetes.asked import DEFAULT_SCHEDULER, PodUse, Program
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.extensions import shown
from resources.drivers.kubernetes.inventory import PLUGIN_SOURCE, name_of
from resources.normalize.amounts import BadAmount, whole
from resources.normalize.documents import plain

Json = dict[str, Any]

NOT_ALLOWED, NOT_SERVED, PARTIAL, NOT_LOOKED = "NotAllowed", "NotServed", "Partial", "NotLooked"
"""Why something was not observed."""
_METRICS: Final = ("metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io")
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_OWN_SCHEDULER = "kube-scheduler"


@dataclass(frozen=True, slots=True)
class Signals:
    """What nodes and pods give away: how many pods ask for each scheduler, programs, resources by nodes."""

    schedulers: Mapping[str, int]
    scheduler_programs: Mapping[Program, int]
    plugins: Mapping[Program, int]
    resources: Mapping[str, int]
    sharing: frozenset[str]
    complete: bool


def signals_of(nodes: Iterable[SeenNode], pods: Iterable[PodUse | None], *, complete: bool) -> Signals:
    """Counted from one inventory; an incomplete one proves nothing absent."""
    live = [pod for pod in pods if pod is not None]
    programs = Counter(pod.scheduler_program for pod in live if pod.scheduler_program is not None)
    plugins: Counter[Program] = Counter()
    resources: Counter[str] = Counter()
    sharing: set[str] = set()
    for node in nodes:
        plugins.update(Program(one.part, one.version) for one in node.software if one.source == PLUGIN_SOURCE)
        resources.update({group.resource_name for group in node.groups})
        sharing.update(group.sharing for group in node.groups)
    schedulers = Counter(pod.scheduler for pod in live if not pod.ours)
    return Signals(schedulers, programs, plugins, resources, frozenset(sharing), complete)


def read_facts(api: Api, signals: Signals | None, at: datetime) -> ClusterFacts:
    """A few calls as the observer. Raises DriverUnavailable when the cluster does not answer."""
    groups = _groups(api)
    crds = _each(api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _crd_group, accept=NAMES_ONLY)
    topics = {
        "server": _server(api),
        "device_plugins": _plugins(signals),
        "storage_classes": _each(api, "/apis/storage.k8s.io/v1/storageclasses", _storage_class),
        "volumes": _volumes(_each(api, "/api/v1/persistentvolumes", _volume)),
        "runtime_classes": _each(api, "/apis/node.k8s.io/v1/runtimeclasses", _runtime_class),
        "priority_classes": _each(api, "/apis/scheduling.k8s.io/v1/priorityclasses", _priority_class),
        "extensions": _extensions(crds, signals),
        "schedulers": _schedulers(signals),
        "metrics": _metrics(groups),
    }
    return ClusterFacts(topics, at)


def _each(api: Api, path: str, keep: Callable[[Json], Mapping[str, Any]], **more: str) -> Topic:
    try:
        found = api.each(path, keep, right=Right.OBSERVER, **more)
    except Refused as refusal:
        return _unseen(refusal)
    if not found.complete and not found.items:
        return Topic(Presence.NOT_OBSERVED, why=PARTIAL)
    return _topic(found.items, "" if found.complete else PARTIAL)


def _topic(items: Iterable[Mapping[str, Any]], why: str = "") -> Topic:
    found = tuple(sorted(items, key=lambda one: str(one.get("name", ""))))
    return Topic(Presence.PRESENT if found else Presence.ABSENT, found, why)


def _unseen(refusal: Refused) -> Topic:
    return Topic(Presence.NOT_OBSERVED, why=NOT_ALLOWED if refusal.status == 403 else NOT_SERVED)


def _server(api: Api) -> Topic:
    """`/version` is no Kubernetes object, so it is read as text would be."""
    try:
        version = api.plain("/version", right=Right.OBSERVER)
    except Refused as refusal:
        return _unseen(refusal)
    said, platform = plain(version.get("gitVersion")), plain(version.get("platform")) or ""
    if said is None:
        return Topic(Presence.NOT_OBSERVED, why=NOT_SERVED)
    return Topic(Presence.PRESENT, ({"name": said, "platform": platform},))


def _groups(api: Api) -> frozenset[str] | Topic:
    try:
        found = api.get("/apis", right=Right.OBSERVER).get("groups") or []
    except Refused as refusal:
        return _unseen(refusal)
    return frozenset(str(one.get("name", "")) for one in found if isinstance(one, dict))


def _metrics(groups: frozenset[str] | Topic) -> Topic:
    if isinstance(groups, Topic):
        return groups
    return _topic({"name": name} for name in _METRICS if name in groups)


def _plugins(signals: Signals | None) -> Topic:
    """Resource names that nodes advertise, and the programs that run for it."""
    if signals is None:
        return Topic(Presence.NOT_OBSERVED, why=NOT_LOOKED)
    items: list[Mapping[str, Any]] = [{"name": name, "nodes": count} for name, count in signals.resources.items()]
    items += [{"name": one.name, "version": one.version, "nodes": count} for one, count in signals.plugins.items()]
    return _unless_partial(items, signals)


def _schedulers(signals: Signals | None) -> Topic:
    """Schedulers that pods ask for beside the cluster's own, and schedulers that run as pods."""
    if signals is None:
        return Topic(Presence.NOT_OBSERVED, why=NOT_LOOKED)
    items: list[Mapping[str, Any]] = [
        {"name": name, "pods": count} for name, count in signals.schedulers.items() if name != DEFAULT_SCHEDULER
    ]
    items += [
        {"name": one.name, "version": one.version, "programs": count}
        for one, count in signals.scheduler_programs.items()
        if one.name != _OWN_SCHEDULER
    ]
    return _unless_partial(items, signals)


def _unless_partial(items: list[Mapping[str, Any]], signals: Signals) -> Topic:
    if not items and not signals.complete:
        return Topic(Presence.NOT_OBSERVED, why=PARTIAL)
    return _topic(items, "" if signals.complete else PARTIAL)


def _extensions(crds: Topic, signals: Signals | None) -> Topic:
    """Each row of the table by itself: one that has a group of its own is not observed where groups cannot be read."""
    kinds: dict[str, int] = Counter(str(one["name"]) for one in crds.items)
    schedulers = signals.schedulers.keys() if signals else set()
    sharing = signals.sharing if signals else frozenset()
    items = []
    for one in shown(kinds.keys(), schedulers, sharing):
        row = one.extension
        why = _hidden(bool(row.groups), crds, signals)
        presence = Presence.PRESENT if one.evidence else Presence.NOT_OBSERVED if why else Presence.ABSENT
        items.append(
            {
                "key": row.key,
                "name": row.name,
                "presence": str(presence),
                "why": "" if presence is not Presence.NOT_OBSERVED else why,
                "evidence": list(one.evidence),
                "kinds": sum(kinds.get(group, 0) for group in row.groups),
            }
        )
    known = [one for one in items if one["presence"] == Presence.PRESENT]
    some = [one for one in items if one["presence"] != Presence.ABSENT]
    presence = Presence.PRESENT if known else Presence.NOT_OBSERVED if some else Presence.ABSENT
    return Topic(presence, tuple(items), crds.why)


def _hidden(has_groups: bool, crds: Topic, signals: Signals | None) -> str:
    """Why the absence of a row could not be told; "" when it could."""
    if has_groups and (crds.presence is Presence.NOT_OBSERVED or crds.why):
        return crds.why
    if signals is None:
        return NOT_LOOKED
    return "" if signals.complete else PARTIAL


def _crd_group(one: Json) -> Mapping[str, Any]:
    """A definition is named `plural.group`."""
    return {"name": name_of(one).partition(".")[2]}


def _storage_class(one: Json) -> Mapping[str, Any]:
    marks = (one.get("metadata") or {}).get("annotations") or {}
    return {
        "name": name_of(one),
        "provisioner": plain(one.get("provisioner")) or "",
        "default": marks.get(_DEFAULT_CLASS) == "true",
        "binding": plain(one.get("volumeBindingMode")) or "",
    }


def _runtime_class(one: Json) -> Mapping[str, Any]:
    return {"name": name_of(one), "handler": plain(one.get("handler")) or ""}


def _priority_class(one: Json) -> Mapping[str, Any]:
    value = one.get("value")
    return {"name": name_of(one), "value": value if isinstance(value, int) else None}


def _volume(one: Json) -> Mapping[str, Any]:
    spec, status = one.get("spec") or {}, one.get("status") or {}
    try:
        size: int | None = whole((spec.get("capacity") or {}).get("storage"))
    except BadAmount:
        size = None
    bound = status.get("phase") == "Bound"
    return {"name": plain(spec.get("storageClassName")) or "", "bytes": size, "bound": bound}


def _volumes(all_of_them: Topic) -> Topic:
    """Summed up by storage class; a size that cannot be read is counted as such, not as 0."""
    rows: dict[str, dict[str, Any]] = defaultdict(lambda: {"volumes": 0, "bound": 0, "bytes": 0, "unread": 0})
    for one in all_of_them.items:
        row = rows[one["name"]]
        row["volumes"] += 1
        row["bound"] += one["bound"]
        row["bytes"] += one["bytes"] or 0
        row["unread"] += one["bytes"] is None
    items = tuple({"name": name, **row} for name, row in sorted(rows.items()))
    return Topic(all_of_them.presence, items, all_of_them.why)
