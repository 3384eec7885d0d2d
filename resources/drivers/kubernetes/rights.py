"""What each of the three roles may do, and which features need it: one table for manifests, review and pages. Pure.

No role lists or reads Secrets, and none runs commands in a container (trust.md).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from portal.lib.text import gettext_noop
from resources.drivers.kubernetes.connection import Right

Answers = Mapping[str, bool | None]
"""What the API server said, by `Access.key`; None is no answer."""
Ask = Callable[[Right, Mapping[str, str]], bool | None]
"""Whether a right may do what these attributes of a SelfSubjectAccessReview say; None when nobody can tell."""
Standing = Literal["granted", "missing", "not_asked"]

PLUGIN_NAMESPACE: Final = "kube-system"
"""Where device plugins keep the ConfigMaps that list their devices."""
RUNNER_ROLE: Final = "armillary-runner"
PLUGINS_ROLE: Final = "armillary-device-plugins"
BINDABLE: Final = (RUNNER_ROLE, PLUGINS_ROLE)
"""The two ClusterRoles that the steward may bind in a namespace, and no other."""


class Place(StrEnum):
    """Where a rule holds."""

    CLUSTER = "cluster"
    JOBS = "jobs"  # namespaces of the portal
    PLUGINS = "plugins"


class Feature(StrEnum):
    """What the portal does with a permission."""

    INVENTORY = "inventory"
    FREE = "free"
    CLASSES = "classes"
    STORAGE = "storage"
    SLICES = "slices"
    EXTENSIONS = "extensions"
    PLUGINS = "plugins"
    JOBS = "jobs"
    LOGS = "logs"
    EVENTS = "events"
    SERVICES = "services"
    VOLUMES = "volumes"
    CLAIMS = "claims"
    GANGS = "gangs"
    LEASE = "lease"
    SECRETS = "secrets"
    NAMESPACES = "namespaces"
    QUOTAS = "quotas"
    ISOLATION = "isolation"
    BINDINGS = "bindings"
    PRIORITIES = "priorities"
    CORDON = "cordon"
    EVICT = "evict"
    ENDING = "ending"


FEATURE_WORDS: Final[Mapping[Feature, str]] = {
    Feature.INVENTORY: gettext_noop("finding nodes and devices"),
    Feature.FREE: gettext_noop("counting what other workloads hold"),
    Feature.CLASSES: gettext_noop("knowing runtime and priority classes"),
    Feature.STORAGE: gettext_noop("knowing storage classes and volumes"),
    Feature.SLICES: gettext_noop("finding devices that are published as ResourceSlices"),
    Feature.EXTENSIONS: gettext_noop("finding extensions such as Kueue, Volcano and KServe"),
    Feature.PLUGINS: gettext_noop("reading the device lists of device plugins"),
    Feature.JOBS: gettext_noop("running jobs"),
    Feature.LOGS: gettext_noop("showing logs"),
    Feature.EVENTS: gettext_noop("explaining a failed start by its events"),
    Feature.SERVICES: gettext_noop("running inference services"),
    Feature.VOLUMES: gettext_noop("giving jobs volumes"),
    Feature.CLAIMS: gettext_noop("asking for devices by claims"),
    Feature.GANGS: gettext_noop("gangs placed by the cluster's own scheduler"),
    Feature.LEASE: gettext_noop("telling a restored portal from the one that runs"),
    Feature.SECRETS: gettext_noop("handing jobs their secrets"),
    Feature.NAMESPACES: gettext_noop("keeping namespaces in step with projects"),
    Feature.QUOTAS: gettext_noop("writing quotas and limits to the cluster"),
    Feature.ISOLATION: gettext_noop("keeping projects apart on the network"),
    Feature.BINDINGS: gettext_noop("letting jobs run in new namespaces"),
    Feature.PRIORITIES: gettext_noop("writing priority classes to the cluster"),
    Feature.CORDON: gettext_noop("cordoning nodes on the cluster"),
    Feature.EVICT: gettext_noop("draining nodes on the cluster"),
    Feature.ENDING: gettext_noop("telling a deleted namespace from rights that were taken away"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """Verbs on resources of one API group; a subresource is written as in RBAC (`pods/log`)."""

    feature: Feature
    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    place: Place
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Access:
    """One question to the API server."""

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        """By which its answer is kept."""
        return f"{self.verb} {self.group}/{self.resource} {self.namespace} {self.name}".rstrip()

    @property
    def attributes(self) -> dict[str, str]:
        """The resourceAttributes of a SelfSubjectAccessReview."""
        resource, _slash, sub = self.resource.partition("/")
        found = {
            "verb": self.verb,
            "group": self.group,
            "resource": resource,
            "subresource": sub,
            "namespace": self.namespace,
            "name": self.name,
        }
        return {name: value for name, value in found.items() if value}


_READ: Final = ("get", "list", "watch")
_KEEP: Final = (*_READ, "create", "patch", "delete")
_NETWORK: Final = "networking.k8s.io"
_OBSERVER: Final = (
    Rule(Feature.INVENTORY, "", ("nodes",), _READ, Place.CLUSTER),
    Rule(Feature.FREE, "", ("pods",), _READ, Place.CLUSTER),
    Rule(Feature.CLASSES, "node.k8s.io", ("runtimeclasses",), _READ, Place.CLUSTER),
    Rule(Feature.CLASSES, "scheduling.k8s.io", ("priorityclasses",), _READ, Place.CLUSTER),
    Rule(Feature.STORAGE, "storage.k8s.io", ("storageclasses",), _READ, Place.CLUSTER),
    Rule(Feature.STORAGE, "", ("persistentvolumes",), _READ, Place.CLUSTER),
    Rule(Feature.SLICES, "resource.k8s.io", ("resourceslices", "deviceclasses"), _READ, Place.CLUSTER),
    Rule(Feature.EXTENSIONS, "apiextensions.k8s.io", ("customresourcedefinitions",), _READ, Place.CLUSTER),
    Rule(Feature.PLUGINS, "", ("configmaps",), ("get", "list"), Place.PLUGINS),
    Rule(Feature.ENDING, "", ("namespaces",), ("get",), Place.CLUSTER),
)
_RUNNER: Final = (
    Rule(Feature.JOBS, "", ("pods",), _KEEP, Place.JOBS),
    Rule(Feature.JOBS, "batch", ("jobs",), _KEEP, Place.JOBS),
    Rule(Feature.JOBS, "", ("configmaps",), ("get", "list", "create", "update", "patch", "delete"), Place.JOBS),
    Rule(Feature.LOGS, "", ("pods/log",), ("get",), Place.JOBS),
    Rule(Feature.EVENTS, "", ("events",), _READ, Place.JOBS),
    Rule(Feature.SERVICES, "apps", ("deployments",), _KEEP, Place.JOBS),
    Rule(Feature.SERVICES, "", ("services",), _KEEP, Place.JOBS),
    Rule(Feature.SERVICES, _NETWORK, ("ingresses",), _KEEP, Place.JOBS),
    Rule(Feature.SERVICES, "autoscaling", ("horizontalpodautoscalers",), _KEEP, Place.JOBS),
    Rule(Feature.VOLUMES, "", ("persistentvolumeclaims",), ("get", "list", "create", "delete"), Place.JOBS),
    Rule(
        Feature.CLAIMS,
        "resource.k8s.io",
        ("resourceclaims", "resourceclaimtemplates"),
        ("get", "list", "create", "delete"),
        Place.JOBS,
    ),
    Rule(Feature.GANGS, "scheduling.volcano.sh", ("podgroups",), ("get", "list", "create", "delete"), Place.JOBS),
    Rule(Feature.GANGS, "scheduling.x-k8s.io", ("podgroups",), ("get", "list", "create", "delete"), Place.JOBS),
    Rule(Feature.LEASE, "coordination.k8s.io", ("leases",), ("get", "create", "update"), Place.JOBS),
    Rule(Feature.SECRETS, "", ("secrets",), ("create", "delete"), Place.JOBS),
)
_STEWARD: Final = (
    Rule(Feature.NAMESPACES, "", ("namespaces",), (*_READ, "create", "patch"), Place.CLUSTER),
    Rule(Feature.QUOTAS, "", ("resourcequotas", "limitranges"), _KEEP, Place.CLUSTER),
    Rule(Feature.ISOLATION, _NETWORK, ("networkpolicies",), _KEEP, Place.CLUSTER),
    Rule(
        Feature.BINDINGS,
        "rbac.authorization.k8s.io",
        ("rolebindings",),
        ("get", "list", "create", "delete"),
        Place.CLUSTER,
    ),
    Rule(Feature.BINDINGS, "rbac.authorization.k8s.io", ("clusterroles",), ("bind",), Place.CLUSTER, BINDABLE),
    Rule(Feature.PRIORITIES, "scheduling.k8s.io", ("priorityclasses",), _KEEP, Place.CLUSTER),
    Rule(Feature.CORDON, "", ("nodes",), ("get", "patch"), Place.CLUSTER),
    Rule(Feature.EVICT, "", ("pods",), ("get", "list"), Place.CLUSTER),
    Rule(Feature.EVICT, "", ("pods/eviction",), ("create",), Place.CLUSTER),
)
RULES: Final[Mapping[Right, tuple[Rule, ...]]] = {
    Right.OBSERVER: _OBSERVER,
    Right.RUNNER: _RUNNER,
    Right.STEWARD: _STEWARD,
}
_TOO_MUCH: Final = (
    ("*", "*", "*"),
    *((verb, "", "secrets") for verb in _READ),
    ("create", "", "pods/exec"),
    ("get", "", "pods/exec"),
    ("create", "", "pods/attach"),
    ("create", "", "serviceaccounts/token"),
    ("impersonate", "", "users"),
    ("escalate", "rbac.authorization.k8s.io", "clusterroles"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """One resource of a right: how each verb stands."""

    feature: Feature
    group: str
    resource: str
    place: Place
    verbs: tuple[tuple[str, Standing], ...]

    @property
    def standing(self) -> Standing:
        """Missing when any verb is; granted when every one is."""
        found = {standing for _verb, standing in self.verbs}
        return "missing" if "missing" in found else "not_asked" if "not_asked" in found else "granted"


def needs(right: Right, namespace: str) -> Iterator[Access]:
    """Everything the right is asked about, `namespace` being where jobs run."""
    for rule in RULES[right]:
        for resource in rule.resources:
            yield from _asked(rule, resource, namespace)


def beyond(namespace: str) -> Iterator[Access]:
    """What no credential of the portal should be allowed, anywhere or where jobs run."""
    for verb, group, resource in _TOO_MUCH:
        yield Access(verb, group, resource)
        if verb != "*":
            yield Access(verb, group, resource, namespace)


def ask_all(right: Right, namespace: str, ask: Ask) -> dict[str, bool | None]:
    """The answers to all that is needed, and to all that would be too much."""
    return {one.key: ask(right, one.attributes) for one in (*needs(right, namespace), *beyond(namespace))}


def lines(right: Right, namespace: str, answers: Answers) -> list[Line]:
    """The right's permissions and how each stands."""
    return [
        Line(
            rule.feature,
            rule.group,
            resource,
            rule.place,
            tuple((_shown(one), _standing(answers.get(one.key))) for one in _asked(rule, resource, namespace)),
        )
        for rule in RULES[right]
        for resource in rule.resources
    ]


def too_much(namespace: str, answers: Answers) -> list[Access]:
    """What was granted and should not be; all of it is said by `*` alone."""
    found = [one for one in beyond(namespace) if answers.get(one.key)]
    everything = [one for one in found if one.verb == "*"]
    wide = {(one.verb, one.group, one.resource) for one in found if not one.namespace}
    return everything or [one for one in found if not one.namespace or (one.verb, one.group, one.resource) not in wide]


def features_of(right: Right) -> list[Feature]:
    """The features that need this right, in the order of the table."""
    return list(dict.fromkeys(rule.feature for rule in RULES[right]))


def features_off(right: Right, namespace: str, answers: Answers | None) -> list[Feature]:
    """Those that cannot work: all without a credential (None), else those that miss a permission.

    Gangs need either kind of PodGroup, whichever the cluster has.
    """
    if answers is None:
        return features_of(right)
    found = lines(right, namespace, answers)
    off = []
    for feature in features_of(right):
        standings = [line.standing for line in found if line.feature == feature]
        missing = [standing == "missing" for standing in standings]
        if all(missing) if feature == Feature.GANGS else any(missing):
            off.append(feature)
    return off


def _asked(rule: Rule, resource: str, namespace: str) -> Iterator[Access]:
    where = {Place.CLUSTER: "", Place.JOBS: namespace, Place.PLUGINS: PLUGIN_NAMESPACE}[rule.place]
    for verb in rule.verbs:
        for name in rule.names or ("",):
            yield Access(verb, rule.group, resource, where, name)


def _shown(access: Access) -> str:
    return f"{access.verb} {access.name}" if access.name else access.verb


def _standing(answer: bool | None) -> Standing:
    return "not_asked" if answer is None else "granted" if answer else "missing"
