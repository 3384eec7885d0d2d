"""Devices under their cards: what a card is shared out in stands below it, as far as the cluster tells which card."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from resources.models import DeviceGroup
from resources.normalize.facts import ONLY_CARD
from resources.observed import SHARING_WORDS
from resources.shapes import DeviceRow

Text = str | Promise
WHOLE = ("", "exclusive")
"""Ways of sharing in which a device is a card."""
NOT_TOLD: Text = _("The cluster does not say which card")


@dataclass(frozen=True, slots=True)
class CardHead:
    """A card above its slots. `told` False: it stands for no card, the slots below are of one that nobody names."""

    group: DeviceGroup
    row: DeviceRow
    name: Text
    sharing: Text
    told: bool
    state: str
    slots: int | None
    """How many the card has; None: not told."""
    apart: bool
    """Whether the cluster says which slots are its."""
    source: str = ""
    named: bool = False
    """Whether the card has a name of its own."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the list: a card that is shared out, or a device or slot with who holds of it."""

    head: CardHead | None = None
    row: DeviceRow | None = None
    child: bool = False
    holders: Sequence[Any] = ()

    @property
    def hidden(self) -> int:
        """How many holders the reader may not see."""
        return sum(one.job is None for one in self.holders)


def families(
    rows: Sequence[DeviceRow], holders: Mapping[UUID, Sequence[Any]], *, under_cards: bool = True
) -> list[Entry]:
    """The rows in their order, those of one group under the cards that it names; without `under_cards` plain."""
    if not under_cards:
        return [_line(row, holders, child=False) for row in rows]
    return [
        entry
        for _group, members in groupby(rows, key=lambda row: row.device.group_id)
        for entry in _family(list(members), holders)
    ]


def _family(rows: Sequence[DeviceRow], holders: Mapping[UUID, Sequence[Any]]) -> Iterator[Entry]:
    group = rows[0].device.group
    if group.sharing in WHOLE:
        yield from (_line(row, holders, child=False) for row in rows)
        return
    for card in group.cards:
        own = [row for row in rows if row.device.card == card["id"]]
        if own or not card["told_apart"]:
            yield Entry(_head(rows[0], card))
            yield from (_line(row, holders, child=True) for row in own)
    rest = [row for row in rows if row.device.card not in {card["id"] for card in group.cards}]
    if rest:
        sharing = SHARING_WORDS.get(group.sharing, group.sharing)
        yield Entry(CardHead(group, rest[0], NOT_TOLD, sharing, False, "not_observed", len(rest), False))
        yield from (_line(row, holders, child=True) for row in rest)


def _head(row: DeviceRow, card: Mapping[str, Any]) -> CardHead:
    group = row.device.group
    health = {True: "healthy", False: "unhealthy", None: "not_observed"}[card["healthy"]]
    return CardHead(
        group=group,
        row=row,
        name=_("Its only card") if card["id"] == ONLY_CARD else card["id"],
        sharing=SHARING_WORDS.get(group.sharing, group.sharing),
        told=True,
        state="stale" if row.state == "stale" else health,
        slots=card["slots"],
        apart=card["told_apart"],
        source=card["source"],
        named=card["id"] != ONLY_CARD,
    )


def _line(row: DeviceRow, holders: Mapping[UUID, Sequence[Any]], *, child: bool) -> Entry:
    return Entry(None, row, child, holders.get(row.device.pk, ()))
