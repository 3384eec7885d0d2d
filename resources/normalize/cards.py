"""What a group's slots stand for: cards, their model and memory, and how they are shared.

Sources in order of trust: a list of cards, companions that count cards, labels, the name of the resource. Status
always decides how many slots there are. Where two names advertise the same silicon, only a count of physical cards
tells them apart; without it the whole cards are in conflict, never summed with their parts.
"""

from collections.abc import Iterator
from dataclasses import replace

from resources.normalize.catalogue import Catalogue, ModelRule, ResourceRule
from resources.normalize.drafts import Draft, Sorted
from resources.normalize.registers import Card

MIB = 1 << 20
SCALED_PERCENT = 105  # plugins report up to a few percent beside a card's nominal memory
WHOLE_CORES = 100
Counted = list[tuple[ResourceRule, str, int]]


def complete(found: Sorted, catalogue: Catalogue) -> list[Draft]:
    """The drafts with all facts but health; a group whose list names several models is split by model."""
    drafts = [part for draft in found.drafts for part in _split_by_model(draft)]
    for draft in drafts:
        _name_model(draft, catalogue)
        if draft.register:
            _take_register(draft, catalogue)
        else:
            _count_cards(draft, found.counted.get(draft.vendor.key, []), catalogue)
    for vendor in {draft.vendor.key: draft.vendor for draft in drafts}:
        _untangle([draft for draft in drafts if draft.vendor.key == vendor])
    for draft in drafts:
        _measure_memory(draft, found.counted.get(draft.vendor.key, []))
        _note_model_facts(draft)
    return drafts


def _split_by_model(draft: Draft) -> Iterator[Draft]:
    """One draft for each model of its list, when the list's slots add up to what is advertised."""
    register = draft.register
    models = list(dict.fromkeys(card.model for card in register.cards)) if register else []
    if register is None or len(models) < 2:
        yield draft
        return
    parts = [tuple(card for card in register.cards if card.model == model) for model in models]
    fits = register.slots == draft.total and draft.schedulable == draft.total and not register.malformed
    if not fits:
        draft.say("MixedModels")
        yield draft
        return
    for cards in parts:
        own = replace(register, cards=cards)
        part = replace(draft, register=own, reasons=list(draft.reasons), bad=set(), sources=dict(draft.sources))
        part.total = part.schedulable = own.slots
        yield part


def _name_model(draft: Draft, catalogue: Catalogue) -> None:
    labels, of_name = draft.labels, draft.parts.get("model")
    if of_name and draft.rule.model_case == "upper":
        of_name = of_name.upper()
    listed = {card.model for card in draft.register.cards if card.model} if draft.register else set()
    from_label = labels.text("model") if "model" not in labels.mixed else None
    if of_name and from_label and labels.below_name and not _bare(from_label, draft).startswith(of_name):
        from_label = None
    if len(listed) == 1 and draft.register:
        draft.model, draft.sources["model"] = listed.pop(), draft.register.source
    elif from_label and not listed:
        draft.model, draft.sources["model"] = from_label, labels.source("model")
    elif of_name and not listed:
        draft.model, draft.sources["model"] = of_name, draft.resource
    if draft.model:
        draft.model = _written(draft.model, draft, catalogue)


def _bare(model: str, draft: Draft) -> str:
    """The model without its maker's family word, as resource names have it."""
    match = draft.vendor.model.fullmatch(model) if draft.vendor.model else None
    return match["m"] if match else model


def _written(model: str, draft: Draft, catalogue: Catalogue) -> str:
    """The name as its maker writes it; mock drivers put a word of their own in front."""
    vendor = draft.vendor
    for prefix in catalogue.dra_attributes.strip:
        model = model.removeprefix(prefix)
    if vendor.model and (match := vendor.model.fullmatch(model)):
        return vendor.model_as.format(m=match["m"])
    brand, hyphen, rest = model.partition("-")
    return f"{brand} {rest}" if hyphen and brand in vendor.brands else model


# --- lists of cards ------------------------------------------------------------------------------------------------


def _take_register(draft: Draft, catalogue: Catalogue) -> None:
    register = draft.register
    assert register is not None
    cards = register.cards
    if register.malformed:
        draft.say("RegisterMalformed", annotation=register.source)
        draft.conflict = True
    else:
        draft.set_physical(len(cards) or None, register.source)
    _share_by_register(draft, cards)
    _compare_slots(draft)
    if register.stale:
        draft.say(register.stale)
        draft.conflict |= register.stale == "HandshakeDeleted"
    for card in cards:
        if card.healthy is False:
            draft.bad.add(card.id)
            draft.say("DeviceUnhealthy", device=card.id)
    sizes = {card.memory_mib for card in cards}
    if len(sizes) == 1 and (size := sizes.pop()):
        draft.memory, draft.sources["memory_bytes"] = size * MIB, register.source
    if any((card.cores or 0) > WHOLE_CORES for card in cards):
        draft.say("CoresScaled")
    _note_scaled_memory(draft, catalogue)


def _share_by_register(draft: Draft, cards: tuple[Card, ...]) -> None:
    register, most = draft.register, max((card.slots or 1 for card in cards), default=1)
    if register is None or not register.sharing or not cards:
        return
    if most > 1 and draft.sharing in ("exclusive", "shared-unknown"):
        draft.sharing, draft.unit = register.sharing, "slot"
        draft.sources["sharing"] = register.source
    elif most == 1 and draft.sharing == register.sharing:
        draft.sharing, draft.unit = "exclusive", "card"
        draft.sources["sharing"] = register.source


def _compare_slots(draft: Draft) -> None:
    register = draft.register
    if register is None or register.malformed or not draft.total:
        return
    if register.slots is not None and register.slots != draft.total and any(card.slots for card in register.cards):
        draft.say("RegisterSlotsDiffer", listed=register.slots, advertised=draft.total)


def _note_scaled_memory(draft: Draft, catalogue: Catalogue) -> None:
    known = _known_memory_mib(draft.model, catalogue)
    if draft.memory and known and draft.memory > known * MIB * SCALED_PERCENT // 100:
        draft.say("MemoryScaled", reported_mib=draft.memory // MIB, physical_mib=known)


def _known_memory_mib(model: str | None, catalogue: Catalogue) -> int | None:
    for rule, match in _model_rules(model, catalogue):
        size = match.get("gb")
        known = int(size) * 1024 if size else rule.memory_mib
        if known:
            return known
    return None


def _model_rules(model: str | None, catalogue: Catalogue) -> Iterator[tuple[ModelRule, dict[str, str]]]:
    for rule in catalogue.models:
        if model and (match := rule.match.fullmatch(model)):
            yield rule, match.groupdict()


# --- without a list ------------------------------------------------------------------------------------------------


def _count_cards(draft: Draft, counted: Counted, catalogue: Catalogue) -> None:
    if draft.total == 0 and not draft.schedulable:
        count = draft.labels.number("count")
        if count:
            draft.set_physical(count, draft.labels.source("count"))
        return
    if draft.total is None or _by_partition(draft) or _by_companion(draft, counted):
        return
    per_card = _slots_per_card(draft, catalogue)
    if per_card:
        cards, rest = divmod(draft.total, per_card[0])
        draft.set_physical(None if rest else cards, per_card[1])
    elif draft.rule.exclusive:
        _by_labels(draft)
    elif count := draft.labels.number("count"):
        draft.set_physical(count, draft.labels.source("count"))


def _by_partition(draft: Draft) -> bool:
    """Cards in a compute partition mode: each shows a known number of slots."""
    mode = draft.profile or draft.labels.text("partition")
    per_card = draft.vendor.partitions.get((mode or "").partition("_")[0].lower())
    if not per_card or draft.total is None:
        return False
    cards, rest = divmod(draft.total, per_card)
    source = draft.resource if draft.profile else draft.labels.source("partition")
    draft.set_physical(None if rest else cards, source)
    if rest:
        draft.say("SlotsNotDivisible", slots=draft.total, per_card=per_card)
    draft.profile = mode
    draft.sharing, draft.unit = (
        ("exclusive", "card") if per_card == 1 else (draft.vendor.partition_sharing, "partition")
    )
    draft.sources["sharing"] = source
    if per_card > 1 and not draft.parts.get("profile") and "memory" in draft.labels.told:
        draft.say("PartitionMemoryDisputed")
    return True


def _by_companion(draft: Draft, counted: Counted) -> bool:
    if draft.rule.exclusive:
        return False
    for rule, name, amount in counted:
        if rule.counts and amount % rule.counts == 0:
            draft.set_physical(amount // rule.counts, f"status.capacity.{name}")
            return True
    return False


def _slots_per_card(draft: Draft, catalogue: Catalogue) -> tuple[int, str] | None:
    cards = draft.rule.cards
    if isinstance(cards, int):
        return cards, draft.resource
    if cards != "cores":
        return None
    if cores := draft.labels.number("cores"):
        return cores, draft.labels.source("cores")
    known = next((rule.cores for rule, _ in _model_rules(draft.model, catalogue) if rule.cores), None)
    return (known, "catalogue") if known else None


def _by_labels(draft: Draft) -> None:
    """Whole cards, unless labels or the sheer number say that they are shared."""
    labels, total = draft.labels, draft.total
    assert total is not None
    if labels.profile_sharing:
        draft.sharing, draft.unit, draft.profile = labels.profile_sharing, "slice", labels.text("profile")
        draft.sources["sharing"] = labels.source("profile")
        if not any(char.isdigit() for char in draft.profile or ""):
            draft.say("ProfileInvalid", profile=draft.profile or "")
            draft.conflict = True
        return
    count = labels.number("count")
    if count is None:
        _without_count(draft, total)
    elif total > count and labels.number("replicas") == 1 and not labels.text("strategy"):
        # The labels say in so many words that nothing is shared: one of the two is wrong, and nobody says which.
        draft.say("CountLabelDisagrees", labelled=count, advertised=total)
        draft.conflict = True
    elif total > count:
        _share_by_label(draft, count)
    else:
        draft.set_physical(count, labels.source("count"))
        if total < count:
            draft.say("CardsNotAdvertised", cards=count, advertised=total)
        elif (labels.number("replicas") or 1) > 1:
            draft.say("SharingNotApplied")


def _without_count(draft: Draft, total: int) -> None:
    replicas, strategy = draft.labels.number("replicas") or 1, draft.labels.text("strategy")
    if draft.rule.cards == "unknown":
        draft.say("SlotsMayBeShared")
    elif strategy and replicas > 1:
        cards, rest = divmod(total, replicas)
        _share(draft, strategy, draft.labels.source("strategy"))
        draft.set_physical(None if rest else cards, draft.labels.source("replicas"))
    elif draft.rule.most and total > draft.rule.most:
        draft.sharing, draft.unit = "shared-suspected", "slot"
        draft.say("CountAbovePlausible", slots=total, most=draft.rule.most)
    else:
        draft.set_physical(total, draft.sources.get("slots_total", draft.resource))


def _share_by_label(draft: Draft, count: int) -> None:
    labels = draft.labels
    # Before there was a choice, the labeller wrote only the number of replicas and the suffix.
    old_form = labels.shared_name or (labels.number("replicas") or 1) > 1
    _share(draft, labels.text("strategy") or ("time-slicing" if old_form else "shared-unknown"), labels.source("count"))
    draft.set_physical(count, labels.source("count"))


def _share(draft: Draft, sharing: str, source: str) -> None:
    draft.sharing, draft.unit, draft.sources["sharing"] = sharing, "slot", source
    if sharing == "time-slicing":
        draft.say("Oversubscribed")


# --- several names for the same silicon ----------------------------------------------------------------------------


def _untangle(drafts: list[Draft]) -> None:
    """Whole cards beside their slices or shares, within one vendor."""
    parts = [draft for draft in drafts if draft.rule.of and draft.total]
    if not parts:
        return
    wholes = [draft for draft in drafts if draft.total and any(_is_part(part, draft) for part in parts)]
    for part in parts:
        strategy = part.labels.text("strategy")
        if part.sharing == "shared-unknown" and strategy:
            _share(part, strategy, part.labels.source("strategy"))
    for draft in wholes:
        _separate(draft, [part for part in parts if _is_part(part, draft)])
    if not wholes and len(parts) > 1:
        for part in parts:
            if not part.register:
                part.set_physical(None, "")


def _is_part(part: Draft, draft: Draft) -> bool:
    return part is not draft and bool(part.rule.of and part.rule.of.fullmatch(draft.resource))


def _separate(draft: Draft, parts: list[Draft]) -> None:
    count, total = draft.labels.number("count"), draft.total or 0
    alone = parts[0] if len(parts) == 1 and not parts[0].register else None
    if count and total < count:
        draft.reasons = [reason for reason in draft.reasons if reason.name != "CardsNotAdvertised"]
        draft.set_physical(total, draft.labels.source("count"))
        for part in parts:
            if not part.register:
                part.set_physical(count - total if part is alone else None, part.labels.source("count"))
        return
    draft.set_physical(None, "")
    for part in parts:
        if not part.register and not part.rule.slot_bytes:
            part.set_physical(None, "")
    slices = [part for part in parts if part.rule.unit == "slice"]
    doubled = [part for part in parts if count or ((part.total or 0) > total and (part.total or 0) % total == 0)]
    if slices:
        draft.say("WholeCountConflictsWithSlices", slices=slices[0].resource)
        draft.conflict = True
    elif doubled:
        _overlap(draft, doubled)


def _overlap(draft: Draft, doubled: list[Draft]) -> None:
    draft.say("OverlapsWith", resource=doubled[0].resource)
    draft.conflict = True
    for part in doubled:
        if part.sharing == "shared-unknown":  # MPS takes its cards for itself; only time slices leave the whole name
            _share(part, "time-slicing", part.resource)


# --- memory and the rest -------------------------------------------------------------------------------------------


def _measure_memory(draft: Draft, counted: Counted) -> None:
    if draft.memory is not None or (draft.register and draft.register.cards):
        return
    labels = draft.labels
    if draft.profile and draft.profile in labels.memory_of:
        told = labels.memory_of[draft.profile]
        draft.memory, draft.sources["memory_bytes"] = told.number, told.source
    elif (size := labels.number("memory")) and "memory" not in labels.mixed and not _is_slice_by_name(draft):
        _memory_of_label(draft, size)
    elif draft.rule.slot_bytes and draft.physical and draft.total:
        _infer_memory(draft, draft.total * draft.rule.slot_bytes, draft.resource)
    elif draft.physical:
        for rule, name, amount in counted:
            if rule.memory_unit_bytes:
                _infer_memory(draft, amount * rule.memory_unit_bytes, name)


def _is_slice_by_name(draft: Draft) -> bool:
    return draft.rule.unit == "slice"


def _memory_of_label(draft: Draft, size: int) -> None:
    if draft.labels.memory_per_node:
        if not draft.physical:
            return
        size //= draft.physical
    draft.memory, draft.sources["memory_bytes"] = size, draft.labels.source("memory")


def _infer_memory(draft: Draft, size: int, source: str) -> None:
    assert draft.physical
    draft.memory, draft.sources["memory_bytes"] = size // draft.physical, source
    draft.say("MemoryInferred")


def _note_model_facts(draft: Draft) -> None:
    if draft.labels.mixed & {"model", "memory"} and not draft.register:
        draft.say("MixedModels")
    if device_id := draft.labels.text("device_id"):
        draft.device_id, draft.sources["device_id"] = device_id, draft.labels.source("device_id")
