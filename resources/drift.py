"""Versions that differ between nodes that should be alike. Pure.

A version nobody reported is no version: it makes no difference, and is counted beside those that are known.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Subject = Literal["kernel", "container_runtime", "kubelet", "driver", "firmware", "runtime", "plugin"]
_OF_NODE: tuple[Subject, ...] = ("kernel", "container_runtime", "kubelet")
_GONE = ("unreachable", "retired")
"""Stages in which a node says nothing new."""
_PARTS: dict[str, Subject] = {"driver": "driver", "firmware": "firmware"}


@dataclass(frozen=True, slots=True)
class Version:
    """One version, and the nodes that have it, by name."""

    version: str
    nodes: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Drift:
    """A subject with more than one version; `of` is the vendor, runtime or plugin it is about. Commonest first."""

    subject: Subject
    of: str
    versions: Sequence[Version]
    unknown: int
    """Nodes that have such a thing by what others of them say, and report no version."""


@dataclass(slots=True)
class _Subject:
    versions: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    silent: int = 0


def drift_of(nodes: Iterable[Any]) -> list[Drift]:
    """What differs between those of these nodes that still report; each needs only the columns read here."""
    found: dict[tuple[Subject, str], _Subject] = defaultdict(_Subject)
    for node in sorted((one for one in nodes if one.stage not in _GONE), key=lambda one: str(one.name)):
        for subject, of, version in _versions(node):
            if version:
                found[subject, of].versions[version].append(node)
            else:
                found[subject, of].silent += 1
    return [
        Drift(subject, of, [Version(version, rows) for version, rows in _commonest(one)], one.silent)
        for (subject, of), one in found.items()
        if len(one.versions) > 1
    ]


def _commonest(one: _Subject) -> list[tuple[str, list[Any]]]:
    return sorted(one.versions.items(), key=lambda item: (-len(item[1]), item[0]))


def _versions(node: Any) -> Iterator[tuple[Subject, str, str]]:
    for subject in _OF_NODE:
        yield subject, "", getattr(node, subject)
    for one in node.software:
        if not one["vendor"]:
            yield "plugin", one["part"], one["version"]
        elif one["part"] in _PARTS:
            yield _PARTS[one["part"]], one["vendor"], one["version"]
        else:
            yield "runtime", f"{one['vendor']} {one['part']}", one["version"]
