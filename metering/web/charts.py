"""Use by day as figures: one small chart per class in its own unit, or one stack of normalised compute."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from metering.selectors.use import Use
from metering.shapes import MILLION, kind_of, unit_of, weight_text
from portal.lib import units
from portal.lib.display import BarRow
from resources.selectors.catalogue import ClassLooks

Axis = tuple[str, str]
Days = Sequence[tuple[date, dict[Axis, Use]]]
TOKENS = {"GPU": "--gpu", "NPU": "--npu", "CPU": "--cpu", "MEMORY": "--mem", "STORAGE": "--sto", "NETWORK": "--net"}
PATTERNS = ("", "/", ".", "x")


@dataclass(frozen=True, slots=True)
class ClassChart:
    """Hours of one class by day, never added to another's."""

    name: str
    kind: str
    word: str
    rows: Sequence[BarRow]


def class_charts(days: Days, looks: ClassLooks) -> list[ClassChart]:
    """A chart for every class that was used on any of the days."""
    return [_chart(axis, days, looks) for axis in _axes(days)]


def stack(days: Days, looks: ClassLooks) -> dict[str, Any]:
    """A plotly figure: normalised compute hours by day, stacked by class, in the hue of its kind.

    Classes of one kind differ by pattern. What has no weight is not in it; `unweighted` names such classes.
    """
    data: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for axis in _weighted(days):
        kind = kind_of(*axis, looks)
        place = seen[kind] = seen.get(kind, -1) + 1
        data.append(
            {
                "type": "bar",
                "name": looks[axis[0]].name,
                "x": [f"{day:%m-%d}" for day, _uses in days],
                "y": [float(_weight(uses, axis) / MILLION) for _day, uses in days],
                "marker": {
                    "color": f"var({TOKENS.get(kind, '--ink-3')})",
                    "pattern": {
                        "shape": PATTERNS[place % len(PATTERNS)],
                        "fgcolor": "var(--surface)",
                        "fillmode": "overlay",
                    },
                },
            }
        )
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    axes = {"yaxis": {"title": {"text": _("normalized hours")}, "rangemode": "tozero"}, "xaxis": {"type": "category"}}
    return {"data": data, "layout": {"barmode": "stack", "height": 260, "showlegend": True, "legend": legend, **axes}}


def stack_table(days: Days, looks: ClassLooks) -> tuple[list[str], list[tuple[date, list[str]]]]:
    """The same figures as text: class names, and for each day one figure per class."""
    axes = _weighted(days)
    rows = [(day, [weight_text(_weight(uses, axis)) for axis in axes]) for day, uses in days]
    return [looks[key].name for key, _resource in axes], rows


def unweighted(days: Days, looks: ClassLooks) -> list[str]:
    """Names of the classes of which some use has no weight."""
    found = {axis for _day, uses in days for axis, use in uses.items() if use.unweighted}
    return [looks[key].name for key, _resource in sorted(found)]


def _chart(axis: Axis, days: Days, looks: ClassLooks) -> ClassChart:
    unit = unit_of(axis[1])
    word = units.hours_word(unit)
    rows = []
    for day, uses in days:
        amount = uses[axis].allocated if axis in uses else 0
        rows.append(BarRow(day.isoformat(), amount, f"{units.hours(amount, unit)} {word}"))
    return ClassChart(looks[axis[0]].name, kind_of(*axis, looks), word, rows)


def _axes(days: Days) -> list[Axis]:
    return sorted({axis for _day, uses in days for axis in uses}, key=lambda axis: (axis[1], axis[0]))


def _weighted(days: Days) -> list[Axis]:
    return [axis for axis in _axes(days) if any(_weight(uses, axis) for _day, uses in days)]


def _weight(uses: dict[Axis, Use], axis: Axis) -> Decimal:
    return uses[axis].weight if axis in uses else Decimal(0)
