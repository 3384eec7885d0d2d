"""Make a team below another, or the organisation itself."""

import uuid
from datetime import datetime

from django.db import transaction

from portal.lib.locks import hold_until_commit
from tenants import access
from tenants.models import Team, User
from tenants.naming import checked, refuse_lookalike, taken
from tenants.services.record_audit import record_audit


@transaction.atomic
def create_team(
    *, actor: User | None, name: str, slug: str, parent: Team | None, now: datetime, contact: str = "", note: str = ""
) -> Team:
    """The new team. Without an actor (installation) no permission is asked; without a parent it is the organisation.

    Raises Invalid for a slug that is taken, or a name like that of another team below the same parent.
    """
    if actor is not None and parent is not None:
        access.require(actor, "team.change", parent)
    said = checked(name=name, slug=slug, contact=contact, note=note)
    if parent is not None:
        Team.objects.select_for_update(of=("self",)).get(pk=parent.pk)
        refuse_lookalike(said["name"], Team.objects.filter(parent=parent).values_list("name", flat=True))
    hold_until_commit(f"tenants.team:{said['slug']}")  # two at once: the second sees the first
    if Team.objects.filter(slug=said["slug"]).exists():
        raise taken("slug", said["slug"])
    key = uuid.uuid4()
    team = Team.objects.create(
        id=key,
        name=said["name"],
        slug=said["slug"],
        parent=parent,
        path=Team.path_of(key, parent),
        contact=said["contact"],
        created_at=now,
    )
    after = {"name": team.name, "slug": team.slug, "contact": team.contact, "parent": parent.slug if parent else None}
    record_audit(actor=actor, verb="team.created", target=team, after=after, note=said["note"], now=now)
    return team
