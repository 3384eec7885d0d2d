"""Nodes as a map: one tile each, coloured by how much of its devices is held (of its cores, where it has none)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from portal.lib import units
from resources.models import Node
from resources.shapes import NodeRow, PartRow

STEPS: Final = 4
OUT, UNKNOWN = "out", "unknown"


@dataclass(frozen=True, slots=True)
class Tile:
    """A node. `step` is 0 for nothing held to STEPS for all; None where nothing can be placed or nobody knows."""

    row: NodeRow
    parts: Sequence[PartRow]
    step: int | None
    standing: str
    """"", "out" (nothing new is placed there) or "unknown" (no fresh data)."""

    @property
    def said(self) -> str:
        """The same in words: what the colour says and more."""
        if self.standing == UNKNOWN:
            return _("{node}: no fresh data").format(node=self.row.node.name)
        held = "; ".join(
            _("{name}: {held} of {all} held").format(
                name=part.name,
                held=units.amount(part.held, part.unit),
                all=units.amount_text(part.part.allocatable, part.unit),
            )
            for part in self.parts
        )
        text = _("{node}: {held}").format(node=self.row.node.name, held=held or _("nothing to hold"))
        return _("{text}; takes no new jobs").format(text=text) if self.standing == OUT else text


@dataclass(frozen=True, slots=True)
class Rack:
    """The nodes of a pool, or those of none (key ""), with how many are shown and what would start in it now."""

    key: str
    tiles: Sequence[Tile]
    able: Sequence[Any] = ()


def racks_of(rows: Iterable[NodeRow], able: Mapping[str, Sequence[Any]]) -> list[Rack]:
    """By pool, nodes of none last; within a pool as they came. `able` is what would start, by pool."""
    found: dict[str, list[Tile]] = {}
    for row in rows:
        found.setdefault(row.node.pool.key if row.node.pool else "", []).append(tile_of(row))
    return [Rack(key, found[key], able.get(key, ())) for key in sorted(found, key=lambda key: (not key, key))]


def tile_of(row: NodeRow) -> Tile:
    """By its devices, else by its cores."""
    parts = [part for part in row.devices if part.part.installed] or [row.cpu]
    standing = UNKNOWN if row.state in ("stale", Node.Stage.UNREACHABLE) else ""
    if not standing and row.state != Node.Stage.SCHEDULABLE:
        standing = OUT
    return Tile(row, parts, None if standing == UNKNOWN else _step(parts), standing)


def _step(parts: Sequence[PartRow]) -> int | None:
    """Of unlike devices the one that is held most: unlike things are never added up."""
    shares = [(part.held, part.part.allocatable) for part in parts if part.part.allocatable]
    if not shares:
        return None
    held, whole = max(shares, key=lambda pair: pair[0] / pair[1])
    return min(STEPS, -(-held * STEPS // whole))
