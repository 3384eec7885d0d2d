"""The physical cards behind a group's slots, from whatever names them; what nobody names stays unnamed."""

from collections.abc import Iterator
from typing import Any

from resources.normalize.catalogue import Catalogue, SlotListRule
from resources.normalize.documents import plain
from resources.normalize.drafts import Draft
from resources.normalize.facts import ONLY_CARD, CardFacts
from resources.normalize.health import MAX_NAMED, entries_of

MIB = 1 << 20


def note_cards(drafts: list[Draft], config_maps: Any, catalogue: Catalogue) -> None:
    """Of drafts whose slots are parts of cards. A list of cards is believed before a list of slots, and where there is
    one card only, every slot is a part of it whoever says so."""
    listed = list(_listed(drafts, config_maps, catalogue))
    for draft in drafts:
        if draft.sharing == "exclusive" or not draft.total:
            continue
        draft.cards = _of_register(draft) or _of_slots([one for one in listed if one[0] is draft]) or _only(draft)


def _of_register(draft: Draft) -> tuple[CardFacts, ...]:
    """How many slots each card has; which of them are whose, such a list does not say unless it has one card."""
    register = draft.register
    if register is None or register.malformed:
        return ()
    fits = register.slots == draft.total
    alone = len(register.cards) == 1 and fits
    return tuple(
        CardFacts(
            card.id,
            card.slots if fits else None,
            card.healthy,
            register.source,
            memory_bytes=card.memory_mib * MIB if card.memory_mib else None,
            indices=tuple(range(draft.total or 0)) if alone else (),
        )
        for card in register.cards
    )


def _listed(drafts: list[Draft], config_maps: Any, catalogue: Catalogue) -> Iterator[tuple[Draft, str, str]]:
    """Drafts with a card that a named slot of theirs is a part of, and the key that says so."""
    for key, text in entries_of(config_maps):
        for rule in catalogue.slot_lists:
            match = rule.match.fullmatch(key)
            found = [d for d in drafts if match and d.vendor.key == rule.vendor and d.resource == match["resource"]]
            for card in _cards_in(rule, text) if found else ():
                yield found[0], card, key


def _cards_in(rule: SlotListRule, text: str) -> Iterator[str]:
    names = list(dict.fromkeys(name for part in text.split(",") if (name := plain(part.strip()))))
    for name in names[:MAX_NAMED]:
        if match := rule.slot.fullmatch(name):
            yield match["card"]


def _of_slots(listed: list[tuple[Draft, str, str]]) -> tuple[CardFacts, ...]:
    """How many slots a card has is told only when every slot was named; a list of free ones names fewer."""
    if not listed:
        return ()
    draft, cards = listed[0][0], [card for _draft, card, _key in listed]
    whole = len(cards) == draft.total
    return tuple(
        CardFacts(
            card,
            cards.count(card) if whole else None,
            None if card not in _bad_numbers(draft) else False,
            listed[0][2],
            indices=tuple(range(draft.total or 0)) if whole and len(set(cards)) == 1 else (),
        )
        for card in sorted(set(cards), key=lambda card: (len(card), card))
    )


def _bad_numbers(draft: Draft) -> set[str]:
    """Numbers of the chips that are listed as ill: the health of a slot is that of its chip."""
    return {name.rpartition("-")[2] for name in draft.bad}


def _only(draft: Draft) -> tuple[CardFacts, ...]:
    if draft.physical != 1 or draft.conflict:
        return ()
    source, total = draft.sources.get("physical_total", draft.resource), draft.total or 0
    healthy = False if draft.bad else None
    return (
        CardFacts(
            ONLY_CARD, total, healthy, source, draft.memory if draft.unit != "slice" else None, tuple(range(total))
        ),
    )
