"""Sums over the quota tree of one pool, class and resource. PURE.

A cell is (path, amount): the keys from the organisation down to its team or project, each followed by a dot.
What a cell takes of the whole is its own amount, or the sum of what the cells below it take where that is more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

Cell = tuple[str, int | None]  # path, amount; None is no rule


@dataclass(frozen=True, slots=True)
class Family:
    """A cell with those directly below it: its own amount (None: no rule), and theirs summed."""

    path: str
    own: int | None
    below: int


def total(cells: Sequence[Cell]) -> int:
    """What the topmost cells take together; an amount without a rule counts by what is below it."""
    return sum(_takes(cell, cells) for cell in cells if _parent(cell[0], cells) is None)


def family_of(path: str, cells: Sequence[Cell]) -> Family | None:
    """The nearest cell above this path with an amount, and what those directly below it take; None without one."""
    ruled = [cell for cell in cells if cell[1] is not None]
    above = _parent(path, ruled)
    if above is None:
        return None
    below = sum(_takes(cell, cells) for cell in ruled if cell[0] != above[0] and _parent(cell[0], ruled) == above)
    return Family(above[0], above[1], below)


def _takes(cell: Cell, cells: Sequence[Cell]) -> int:
    below = sum(_takes(other, cells) for other in cells if _parent(other[0], cells) == cell)
    return max(cell[1] or 0, below)


def _parent(path: str, cells: Sequence[Cell]) -> Cell | None:
    """The nearest cell above the path."""
    above = [cell for cell in cells if path != cell[0] and path.startswith(cell[0])]
    return max(above, key=lambda cell: len(cell[0]), default=None)
