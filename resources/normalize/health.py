"""The health of a group, and whose word it follows: lists of devices by state, labels, and the amounts themselves."""

from collections.abc import Iterator, Mapping
from typing import Any

from resources.normalize.catalogue import Catalogue, StateListRule
from resources.normalize.documents import parse_value, plain
from resources.normalize.drafts import Draft
from resources.normalize.facts import Health

MAX_DEPTH = 6
MAX_NAMED = 64  # devices named one by one; more than a machine has


def note_states(drafts: list[Draft], config_maps: Any, catalogue: Catalogue) -> None:
    """Marks the devices that companion ConfigMaps list as bad."""
    for key, text in entries_of(config_maps):
        for rule in catalogue.state_lists:
            if match := rule.match.fullmatch(key):
                resource = match.groupdict().get("resource")
                _note(rule, text, [draft for draft in drafts if resource in (None, draft.resource)])


def _note(rule: StateListRule, text: str, drafts: list[Draft]) -> None:
    names = [name for part in text.split(",") if (name := plain(part.strip()))]
    for draft in drafts:
        if draft.vendor.key == rule.vendor:
            for name in names[:MAX_NAMED]:
                draft.bad.add(name)
                draft.say(rule.reason, device=name)


def entries_of(config_maps: Any) -> Iterator[tuple[str, str]]:
    """Every text in companion ConfigMaps, with its key."""
    return _entries(config_maps, MAX_DEPTH)


def _entries(value: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Every text in a nest of mappings, with its key; JSON in a text is opened."""
    if depth == 0:
        return
    if isinstance(value, list | tuple):
        for entry in value:
            yield from _entries(entry, depth - 1)
    elif isinstance(value, Mapping):
        for key, entry in sorted((str(key), entry) for key, entry in value.items() if _opened(entry)):
            opened = parse_value(entry) if isinstance(entry, str) and entry[:1] in ("{", "[") else None
            if isinstance(entry, str) and opened is None:
                yield key, entry
            else:
                yield from _entries(entry if opened is None else opened, depth - 1)


def _opened(entry: Any) -> bool:
    return isinstance(entry, str | Mapping | list | tuple)


def note_labels(draft: Draft) -> None:
    """Marks the devices that labels call bad."""
    for told in draft.labels.unhealthy[:MAX_NAMED]:
        draft.bad.add(told.value)
        draft.say("DeviceUnhealthy", device=told.value)


def judge(draft: Draft, *, reachable: bool) -> Health:
    """The group's health, with its reasons added. Absence of news is never good news."""
    total, schedulable = draft.total, draft.schedulable
    note_labels(draft)
    health = _unadvertised(draft) if total == 0 and not schedulable else _advertised(draft, total, schedulable)
    if not reachable:
        draft.say("NodeUnreachable")
        return Health.UNKNOWN
    return health


def _unadvertised(draft: Draft) -> Health:
    if draft.hinted:
        draft.say("PciPresentNotAdvertised")
        return Health.UNKNOWN
    draft.say("NotAdvertising" if "slots_total" in draft.sources else "LabelledNotAdvertised")
    return Health.UNHEALTHY


def _advertised(draft: Draft, total: int | None, schedulable: int | None) -> Health:
    if total is None or schedulable is None or schedulable > total:
        return Health.UNKNOWN
    withdrawn = total - schedulable
    if withdrawn:
        draft.say("DevicesWithdrawn", count=withdrawn)
    if draft.conflict:
        return Health.UNKNOWN
    if schedulable == 0 or (draft.physical and len(draft.bad) >= draft.physical):
        return Health.UNHEALTHY
    missing = any(reason.name == "CardsNotAdvertised" for reason in draft.reasons)
    return Health.DEGRADED if withdrawn or draft.bad or missing else Health.HEALTHY
