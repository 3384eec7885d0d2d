"""Which runtime a job is given, and why none: a job combines one only with what it is declared for (R-23). Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RuntimeOffer:
    """A runtime in use of the kind of cluster a template runs on. Empty classes and task types are every one."""

    key: str
    kinds: tuple[str, ...]
    classes: tuple[str, ...] = ()
    task_types: tuple[str, ...] = ()
    image: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """What a job runs and on what. `device_class` and `kind` are "" without devices; `image` whether it needs one."""

    task_type: str
    device_class: str
    kind: str
    image: bool


def fitting(rows: Iterable[RuntimeOffer], need: Need) -> list[RuntimeOffer]:
    """Those declared for it, in their order."""
    return [row for row in rows if _declared(row, need) and (row.image or not need.image)]


def admits(task_types: Collection[str], runtimes: Collection[str], task_type: str, runtime: str | None) -> bool:
    """Whether a pool with these rules takes a job; an empty rule takes every one. None: the runtime is not known yet,
    "": it has none, which no list names."""
    if task_types and task_type not in task_types:
        return False
    return runtime is None or not runtimes or runtime in runtimes


def _declared(row: RuntimeOffer, need: Need) -> bool:
    if row.task_types and need.task_type not in row.task_types:
        return False
    if not need.device_class:
        return "CPU" in row.kinds
    return need.kind in row.kinds and (not row.classes or need.device_class in row.classes)
