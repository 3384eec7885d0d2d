"""Geometry of the bars: percentages for SVG attributes, so no inline style is needed and text never scales."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from portal.lib import units
from portal.lib.display import BarRow
from portal.lib.localised import listed


def share(value: int, scale: int) -> str:
    """`value` of `scale` as a percentage for an SVG attribute, cut to [0, 100]."""
    part = 100 * min(max(value, 0), scale) / scale if scale > 0 else 0
    return f"{part:.2f}".rstrip("0").rstrip(".") + "%"


@dataclass(frozen=True, slots=True)
class Quota:
    """The figures of one quota cell, base units. A limit of None is no rule; `used` of None: not measured."""

    used: int | None
    reserved: int = 0
    job: int = 0
    borrowed: int = 0
    lent: int = 0
    guarantee: int | None = None
    nominal: int | None = None
    ceiling: int | None = None

    @property
    def scale(self) -> int:
        """The right end of the bar: the ceiling, or whatever lies beyond it."""
        return max(self.ceiling or 0, self.nominal or 0, self.guarantee or 0, self.asked, 1)

    @property
    def asked(self) -> int:
        """Used, reserved and this job together."""
        return (self.used or 0) + self.reserved + self.job

    @property
    def to_borrow(self) -> int:
        """The part of this job that lies beyond nominal."""
        return 0 if self.nominal is None else min(self.job, max(0, self.asked - self.nominal))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the bar: `css` names its fill, `pattern` an overlay of the sprite."""

    css: str
    x: str
    width: str
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """A graduation; long ones carry every fourth step."""

    x: str
    long: bool


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend; `mark` names the swatch the template draws."""

    mark: str
    label: str
    value: str


def pieces(quota: Quota) -> list[Piece]:
    """The fills from left to right; what lies beyond nominal is hatched because it is borrowed."""
    if quota.used is None:
        return []
    spans = [("f-k", 0, quota.used), ("f-k2", quota.used, quota.reserved + quota.job)]
    own = quota.scale if quota.nominal is None else quota.nominal
    found: list[Piece] = []
    for css, start, length in spans:
        inside = max(0, min(start + length, own) - start)
        for begin, size, pattern in ((start, inside, ""), (start + inside, length - inside, "p-hatch")):
            if size:
                found.append(Piece(css, share(begin, quota.scale), share(size, quota.scale), pattern))
    if quota.lent and quota.nominal is not None:
        begin = max(0, quota.nominal - quota.lent)
        found.append(Piece("f-lent", share(begin, quota.scale), share(quota.nominal - begin, quota.scale), "p-dots"))
    return found


def ticks(quota: Quota, unit: units.Unit) -> list[Tick]:
    """Graduations at powers of two of the unit, at most 24 of them."""
    step = {"devices": units.DEVICE_PARTS, "cpu": 1000, "bytes": units.GIB, "count": 1}[unit]
    while quota.scale // step > 24:
        step *= 2
    return [Tick(share(i * step, quota.scale), i % 4 == 0) for i in range(quota.scale // step + 1)]


def keys(quota: Quota, unit: units.Unit) -> tuple[list[Key], list[Key]]:
    """The legend: what is happening, then the three limits; a limit without a rule is "none", never 0."""
    shown = [
        ("used", _("used"), quota.used),
        ("reserved", _("reserved"), quota.reserved),
        ("job", _("this job"), quota.job),
        ("to-borrow", _("to borrow"), quota.to_borrow),
        ("borrowed", _("borrowed"), quota.borrowed),
        ("lent", _("lent"), quota.lent),
    ]
    limits = [
        ("guarantee", _("guarantee"), quota.guarantee),
        ("nominal", _("nominal"), quota.nominal),
        ("ceiling", _("ceiling"), quota.ceiling),
    ]
    use = [
        Key(mark, label, _("not measured") if value is None else units.amount(value, unit))
        for mark, label, value in shown
        if mark == "used" or value
    ]
    rules = [
        Key(mark, label, _("none") if value is None else units.amount(value, unit)) for mark, label, value in limits
    ]
    return use, rules


def quota_shape(label: object, unit: units.Unit, **figures: Any) -> dict[str, Any]:
    """What ui/quota_bar.html draws; `figures` are those of `Quota`."""
    quota = Quota(**figures)
    use, rules = keys(quota, unit)
    said = listed(f"{key.label} {key.value}" for key in [*use, *rules])
    scale, nominal, ceiling = quota.scale, quota.nominal, quota.ceiling
    return {
        "quota": quota,
        "said": f"{label}: {said} {units.unit_word(unit, 0)}".rstrip(),
        "unit": units.unit_word(unit, nominal or 0),
        "figure": use[0].value,
        "of": None if nominal is None else units.amount(nominal, unit),
        "pieces": pieces(quota),
        "ticks": ticks(quota, unit),
        "use": use,
        "rules": rules,
        "guarantee": share(quota.guarantee, scale) if quota.guarantee else None,
        "nominal": None if nominal is None else share(nominal, scale),
        "beyond": share(scale - nominal, scale) if nominal is not None and nominal < scale else None,
        "ceiling": None if ceiling is None else share(ceiling, scale),
        "ceiling_foot": share((ceiling or 0) * 1000 - scale * 8, scale * 1000),
    }


def rows(items: Sequence[BarRow]) -> list[tuple[BarRow, str]]:
    """Each row with the length of its bar, the longest being full."""
    longest = max((item.value or 0 for item in items), default=0)
    return [(item, share(item.value or 0, longest)) for item in items]


@dataclass(frozen=True, slots=True)
class Column:
    """An upright bar: x and width in per cent, y and height in pixels."""

    row: BarRow
    x: str
    width: str
    y: int
    height: int


COLUMN_HEIGHT = 64


def columns_shape(items: Sequence[BarRow]) -> dict[str, Any]:
    """What ui/column_chart.html draws: the columns, and the rows named below them."""
    known = [item for item in items if item.value is not None]
    most = max(known, key=lambda item: item.value or 0, default=None)
    return {
        "columns": columns(items),
        "height": COLUMN_HEIGHT,
        "first": items[0].label if items else "",
        "last": items[-1].label if len(items) > 1 else "",
        "most": f"{most.label}: {most.text}" if most else "",
    }


def columns(items: Sequence[BarRow]) -> list[Column]:
    """Each row as an upright bar; a positive value is at least one pixel high, lest it be read as zero."""
    most = max((item.value or 0 for item in items), default=0)
    found = []
    for place, item in enumerate(items):
        value = item.value or 0
        height = max(1, COLUMN_HEIGHT * value // most) if value else 0
        x, width = share(place * 10, len(items) * 10), share(8, len(items) * 10)
        found.append(Column(item, x, width, COLUMN_HEIGHT - height, height))
    return found
