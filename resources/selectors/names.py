"""Classes, pools and runtimes as people call them, for facts that keep a key, or a name in another language."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from portal.lib.localised import localised
from portal.lib.request_context import current
from resources.models import Pool, ResourceClass, Runtime

Kind = Literal["class", "pool", "runtime"]
_MODELS: dict[Kind, type[ResourceClass | Pool | Runtime]] = {
    "class": ResourceClass,
    "pool": Pool,
    "runtime": Runtime,
}
Words = Mapping[str, Mapping[str, Any]]


def name_of(kind: Kind, said: str) -> str:
    """The name in the active language; what none is called stays as it is. One query a request."""
    words = current().once(f"names of {kind}", lambda: _words(kind))
    return localised(words.get(said, {}), said)


def _words(kind: Kind) -> Words:
    """Names by key and by each name. A name that two share says nothing about which is meant."""
    return _by_word(list(_MODELS[kind].objects.values_list("key", "name")))


def _by_word(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Words:
    found: dict[str, Mapping[str, Any]] = {}
    shared = set()
    for _key, names in rows:
        for word in {str(word) for word in names.values() if word}:
            shared |= {word} & found.keys()
            found[word] = names
    return {word: names for word, names in found.items() if word not in shared} | dict(rows)
