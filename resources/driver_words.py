"""Kinds of clusters in words."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

DRIVER_WORDS: Final[dict[str, str | Promise]] = {
    "kubernetes": _("Kubernetes"),
    "local": _("this machine"),
    "simulated": _("simulated"),
}


def driver_word(kind: str) -> str | Promise:
    """The kind in words; one that is not known is shown as it is."""
    return DRIVER_WORDS.get(kind, kind)
