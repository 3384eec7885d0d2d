"""The validation matrix from what attempts left behind; five queries, whatever there is."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import BooleanField, Case, Exists, F, OuterRef, Q, Value, When

from jobs.matrix import TELLING, Cell, Place, Run, cell_of
from jobs.models import AllocationLine
from jobs.reasons import Kind, Reason
from jobs.selectors.ground import version_of
from jobs.states import AllocationState
from portal.lib.localised import localised
from resources.models import DeviceGroup, Node, ResourceClass, Runtime
from resources.models.catalogue import Kind as ResourceKind
from resources.task_types import TASK_TYPES

CPU = "cpu"
"""The class of jobs without devices."""
STAY_UP = ("inference", "experiment")
"""They run until somebody or a rule ends them: one that was up and ended so has passed."""


@dataclass(frozen=True, slots=True)
class Row:
    """A class and a runtime with a cell for each task type, in their order. `runtime` "" is none."""

    class_key: str
    class_name: str
    kind: str
    runtime: str
    runtime_name: str
    cells: tuple[tuple[str, Cell], ...]

    def has(self, state: str) -> bool:
        """Whether any of its cells is in that state."""
        return any(cell.state == state for _, cell in self.cells)


def matrix(*, class_key: str = "", runtime: str = "", state: str = "") -> list[Row]:
    """Every class with every runtime that is declared for it or was used with it; "" narrows nothing."""
    classes = {row.key: row for row in ResourceClass.objects.filter(retired_at__isnull=True)}
    runtimes = {row.key: row for row in Runtime.objects.filter(retired_at__isnull=True).prefetch_related("classes")}
    runs: dict[tuple[str, str], dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in _runs():
        runs[run.class_key, run.runtime][run.task_type].append(run)
    places = _places()
    pairs = {pair for pair in {*_declared(classes, runtimes), *runs} if pair[0] == CPU or pair[0] in classes}
    chosen = [pair for pair in sorted(pairs) if class_key in ("", pair[0]) and runtime in ("", pair[1] or "-")]
    rows = [
        _row(pair, classes.get(pair[0]), runtimes.get(pair[1]), runs.get(pair, {}), places.get(pair[0], set()))
        for pair in chosen
    ]
    return [row for row in rows if not state or row.has(state)]


def _row(
    pair: tuple[str, str],
    of_class: ResourceClass | None,
    of_runtime: Runtime | None,
    runs: Mapping[str, list[Run]],
    places: set[Place],
) -> Row:
    now = version_of(of_runtime) if of_runtime else ""
    declared = of_runtime.task_types if of_runtime else []
    cells = [
        (task, Cell("not_declared"))
        if declared and task not in declared and task not in runs
        else (task, cell_of(runs.get(task, ()), places, now))
        for task in TASK_TYPES
    ]
    return Row(
        class_key=pair[0],
        class_name=localised(of_class.name, pair[0]) if of_class else pair[0],
        kind=of_class.kind if of_class else ResourceKind.CPU,
        runtime=pair[1],
        runtime_name=localised(of_runtime.name, pair[1]) if of_runtime else pair[1],
        cells=tuple(cells),
    )


def _declared(classes: Mapping[str, ResourceClass], runtimes: Mapping[str, Runtime]) -> set[tuple[str, str]]:
    """Pairs that people declared: every class of the kinds, or the classes that are named."""
    devices = [row for row in classes.values() if row.resource == "device"]
    found = {(CPU, key) for key, row in runtimes.items() if ResourceKind.CPU in row.kinds}
    for key, row in runtimes.items():
        named = {one.key for one in row.classes.all()}
        found |= {(c.key, key) for c in devices if c.kind in row.kinds and (not named or c.key in named)}
    return found


def _places() -> dict[str, set[Place]]:
    """By class what real nodes of it have now; simulated ones prove nothing and need no proof."""
    real = {"cluster__simulated": False}
    found: dict[str, set[Place]] = defaultdict(set)
    nodes = Node.objects.filter(**real).exclude(stage=Node.Stage.RETIRED).order_by()
    for container in nodes.values_list("container_runtime", flat=True).distinct():
        found[CPU].add(Place("", container))
    groups = DeviceGroup.objects.filter(node__in=nodes.values("pk"), capacity_parts__gt=0).order_by()
    by_node: dict[tuple[object, str, str], set[str]] = defaultdict(set)
    rows = groups.values_list("node_id", "resource_class__key", "node__container_runtime", "driver_version")
    for node, key, container, driver in rows.filter(resource_class__isnull=False):
        by_node[node, key, container].add(driver)
    for (_node, key, container), drivers in by_node.items():
        found[key].add(Place(", ".join(sorted(drivers))[:60], container))
    return found


def _runs() -> list[Run]:
    """The newest attempt of each cell, place, runtime and outcome that says anything."""
    whole = Q(allocation__state=AllocationState.RELEASED, allocation__release__completed_at__isnull=False)
    attempt = "allocation__attempt"
    ended_as_wanted = [reason.value for reason in Reason if reason.kind is Kind.END]
    stays_up = Q(**{
        f"{attempt}__job__task_type__in": STAY_UP, f"{attempt}__end_reason__in": ended_as_wanted,
        f"{attempt}__ready_at__isnull": False,
    })  # fmt: skip
    passed = whole & (Q(allocation__attempt__end_reason=Reason.SUCCEEDED) | stays_up)
    telling = Q(allocation__attempt__end_reason__in=[reason.value for reason in TELLING])
    failures = [reason.value for reason in Reason if reason.kind is Kind.FAILURE]
    of_trial = Q(allocation__attempt__job__validates__isnull=False, allocation__attempt__end_reason__in=failures)
    beside = AllocationLine.objects.filter(allocation=OuterRef("allocation"), resource="device")
    lines = (
        AllocationLine.objects.filter(passed | telling | of_trial)
        .filter(Q(resource="device") | (Q(resource="cpu") & ~Exists(beside)))
        .annotate(
            task=F("allocation__attempt__job__task_type"),
            runtime=F("allocation__attempt__job__runtime_key"),
            runtime_as=F("allocation__attempt__runtime_as"),
            simulated=F("allocation__attempt__cluster__simulated"),
            passed=Case(When(passed, then=Value(True)), default=Value(False), output_field=BooleanField()),
            at=F("allocation__attempt__stopped_at"),
            job=F("allocation__attempt__job_id"),
            reason=F("allocation__attempt__end_reason"),
        )
    )
    same = ("task", "class_key", "runtime", "simulated", "passed", "driver_version", "container_runtime", "runtime_as")
    rows = lines.order_by(*same, F("at").desc(nulls_last=True)).distinct(*same)
    return [
        Run(task, key, runtime, simulated, ok, Place(driver, container), runtime_as, at, job, reason)
        for task, key, runtime, simulated, ok, driver, container, runtime_as, at, job, reason in rows.values_list(
            *same, "at", "job", "reason"
        )
        if at is not None
    ]
