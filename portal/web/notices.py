"""Notices as they are read: the sentence in the reader's language, and where it leads."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise

from jobs.sentences import sentence
from portal.web.states import Look, look
from resources.selectors.names import Kind, name_of
from tenants.models import Notice
from tenants.notify.events import EVENTS, GROUPS, Event, tell


@dataclass(frozen=True, slots=True)
class Row:
    """A notice ready to be shown; `url` is "" where its subject has no page of its own."""

    notice: Notice
    look: Look
    group: str | Promise
    text: str
    url: str


def row_of(notice: Notice, now: datetime) -> Row:
    """The notice in words."""
    words = EVENTS.get(Event(notice.event)) if notice.event in set(Event) else None
    text = text_of(notice, now)
    group = GROUPS[words.group] if words else notice.event
    return Row(notice, look(words.look if words else ""), group, text, address_of(notice))


def text_of(notice: Notice, now: datetime) -> str:
    """The sentence of the notice, with classes and pools by their names."""
    facts: dict[str, Any] = dict(notice.facts)
    for kind in _KINDS:
        if isinstance(facts.get(kind), str):
            facts[kind] = name_of(kind, facts[kind])
    return tell(notice.event, facts, now, sentence)


def address_of(notice: Notice) -> str:
    """The page of what the notice is about. Whether its reader may still see it, that page says."""
    make = _PAGES.get(notice.subject_type)
    try:
        return make(notice.subject_id, notice.facts) if make else ""
    except (NoReverseMatch, KeyError):
        return ""


_KINDS: tuple[Kind, ...] = ("class", "pool")
_PAGES: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "Job": lambda key, facts: reverse("job_detail", args=[key]),
    "Cluster": lambda key, facts: (
        f"{reverse('node_list')}?stage=unreachable&pool={facts['pool']}" if "pool" in facts else reverse("home")
    ),
    # A rule of a team above the reader's own is told, though the team is not theirs to see.
    "Team": lambda key, facts: reverse("team_list"),
    "Project": lambda key, facts: reverse("project_detail", args=[facts["slug"]]),
    "ResourceClass": lambda key, facts: reverse("class_list"),
    "JobTemplate": lambda key, facts: reverse("template_list"),
    "Membership": lambda key, facts: reverse("home"),
}
