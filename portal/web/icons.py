"""Icons as inline SVG from the installed lucide set: no font, no request, in the colour of the text."""

import re
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe
from lucide import IconDoesNotExist
from lucide.templatetags.lucide import lucide

__all__ = ["IconDoesNotExist", "icon_svg"]

_BLANK = re.compile(r"\s*\n\s*")


@lru_cache(maxsize=512)
def icon_svg(name: str, size: int = 16, label: str = "") -> SafeString:
    """The named icon; without a label it is hidden from assistive technology.

    Raises IconDoesNotExist, so that a misspelt name fails the first test that renders it.
    """
    said = {"role": "img", "aria_label": str(label)} if label else {"aria_hidden": "true"}
    # lucide escapes the attributes; only its own line breaks are taken out.
    return mark_safe(_BLANK.sub("", lucide(str(name), size=size, **said)))  # noqa: S308
