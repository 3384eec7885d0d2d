"""Cordons on clusters themselves in words: why one cannot be asked for, and how a node stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from resources.cordons import ASKED, DRIFTED, LIFTING, SET, THEIRS
from resources.models import ClusterCordon, Node

Text = str | Promise

OFF_WORDS: Final[Mapping[str, Text]] = {
    "NoClusterCordons": _("its kind of cluster has no cordon of its own."),
    "ClusterDetached": _("the cluster is detached."),
    "StewardMissing": _("no steward's credential is stored. Give one on the cluster's access page."),
    "StewardMayNot": _("the steward's credential may not change nodes. Apply the steward's manifest again."),
}
ERROR_WORDS: Final[Mapping[str, Text]] = {
    **OFF_WORDS,
    "AccessDenied": _("the cluster refuses it to the steward's credential."),
    "Unauthorized": _("the cluster does not know the steward's credential."),
    "NodeKeepsChanging": _("the node changed each time before it could be written."),
}
NO_ANSWER: Final = _("the cluster did not answer.")
OTHERS: Final = "others"


@dataclass(frozen=True, slots=True)
class CordonShown:
    """How a node stands on its own cluster: `state` is that of the portal's row, `others` or "" for not cordoned."""

    state: str
    word: Text
    text: Text
    look: str
    """A state of the site's own, for its glyph and tone."""
    row: ClusterCordon | None = None
    error: Text = ""

    @property
    def since(self) -> datetime | None:
        """Since when; None where only the cluster knows."""
        return self.row.since if self.row else None


_SAID: Final[Mapping[str, tuple[Text, Text, str]]] = {
    "": (_("not cordoned"), _("Its cluster places pods of others there."), "schedulable"),
    OTHERS: (
        _("cordoned by others"),
        _("Somebody closed it on the cluster itself. Only they can open it: the portal lifts nothing it did not set."),
        "cordoned",
    ),
    ASKED: (_("asked, not done yet"), _("The cluster is told with the next pass."), "starting"),
    SET: (
        _("cordoned by the portal"),
        _("Nothing new of anybody is placed there. Bringing it back lifts this too."),
        "cordoned",
    ),
    THEIRS: (
        _("cordoned by others"),
        _("It was closed there already when the portal was asked to: theirs stands, and bringing it back leaves it."),
        "cordoned",
    ),
    DRIFTED: (
        _("lifted by others"),
        _("The portal's cordon was lifted there. It is not set again by itself: ask for it anew, or let it be."),
        "degraded",
    ),
    LIFTING: (_("to be lifted"), _("The cluster is told with the next pass."), "starting"),
}


def cordon_shown(node: Node, row: ClusterCordon | None) -> CordonShown:
    """By what was asked, and by what was seen there last."""
    state = str(row.state) if row else OTHERS if node.cluster_cordoned else ""
    if state == DRIFTED and node.cluster_cordoned:
        state = OTHERS  # lifted there, and set again by somebody else since
    word, text, look = _SAID[state]
    error: Text = ERROR_WORDS.get(row.error, NO_ANSWER) if row and row.error else ""
    return CordonShown(state, word, text, look, row, error)
