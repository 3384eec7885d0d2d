"""Which pool a node belongs to and which class a group of devices is of. Pure: the previews and the pass agree."""

from collections.abc import Iterable, Mapping
from typing import Any

Labels = Mapping[str, Any]


def selects(selector: Labels, cluster: str, labels: Labels) -> bool:
    """A pool's selector is a map of labels; `cluster` names a cluster key. An empty selector selects nothing."""
    wanted = dict(selector)
    if not wanted or wanted.pop("cluster", cluster) != cluster:
        return False
    return all(labels.get(label) == value for label, value in wanted.items())


def pool_of(selectors: Mapping[str, Labels], cluster: str, labels: Labels) -> str | None:
    """The key of the pool a node belongs to: of several that select it, the first by key."""
    return next((key for key in sorted(selectors) if selects(selectors[key], cluster, labels)), None)


def facts_of_group(group: Any) -> dict[str, str]:
    """What a class may match: the group as the driver reports it, or as it is stored."""
    return {name: getattr(group, name) for name in ("resource_name", "vendor", "kind", "model")}


def class_of(matches: Iterable[tuple[str, Labels]], facts: Labels) -> str | None:
    """The key of the class whose match has the most conditions, all true; a tie goes to the last key.

    None leaves the group unrecognised, never dropped. An empty match takes nothing.
    """
    fitting = [
        (len(match), key) for key, match in matches if match and all(facts.get(n) == v for n, v in match.items())
    ]
    return max(fitting)[1] if fitting else None
