"""Make a team below another, or the organisation itself."""

import uuid
from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import Team, User
from tenants.services.record_audit import record_audit


@transaction.atomic
def create_team(
    *, actor: User | None, name: str, slug: str, parent: Team | None, now: datetime, contact: str = ""
) -> Team:
    """The new team. Without an actor (installation) no permission is asked; without a parent it is the organisation."""
    if actor is not None and parent is not None:
        access.require(actor, "team.change", parent)
    key = uuid.uuid4()
    team = Team.objects.create(
        id=key,
        name=name,
        slug=slug,
        parent=parent,
        path=Team.path_of(key, parent),
        contact=contact,
        created_at=now,
    )
    record_audit(actor=actor, verb="team.created", target=team, after={"name": name, "slug": slug}, now=now)
    return team
