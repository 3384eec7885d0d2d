"""Names kept in both languages as data ({"en": …, "zh-hans": …}) and shown in the active one; lists of words."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import get_language, pgettext


def localised(names: Mapping[str, Any] | str, fallback: str = "") -> str:
    """The name in the active language, else in English, else any, else the fallback."""
    if isinstance(names, str):
        return names or fallback
    language = (get_language() or "en").lower()
    for key in (language, language.partition("-")[0], "en"):
        if names.get(key):
            return str(names[key])
    return str(next(iter(names.values()), "") or fallback)


def listed(items: Iterable[object]) -> str:
    """The items as one text, with the active language's sign between them."""
    return pgettext("between list items", ", ").join(str(item) for item in items)
