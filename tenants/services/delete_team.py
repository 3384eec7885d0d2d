"""Delete an empty team."""

from datetime import datetime

from django.db import transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from tenants import access
from tenants.models import Team, User
from tenants.naming import checked
from tenants.selectors.teams import contents_of
from tenants.services.record_audit import record_audit


@transaction.atomic
def delete_team(*, actor: User | None, team: Team, now: datetime, note: str = "") -> None:
    """Needs the permission on the team above it. Raises Conflict while it holds anything, or is the organisation.

    What is left of it is its record in the audit.
    """
    if actor is not None:
        access.require(actor, "team.change", team.parent or team)
    said = checked(note=note)
    row = Team.objects.select_for_update(of=("self",)).get(pk=team.pk)
    if row.parent_id is None:
        raise Conflict("OrganisationStays", _("{team} is the organisation itself and cannot be deleted."), facts={
            "team": row.name
        })  # fmt: skip
    found = contents_of(row)
    if any(found.values()):
        message = _(
            "{team} still holds {teams} teams, {projects} projects, {members} members, {grants} grants and "
            "{cells} quota cells. Move or end them first."
        )
        raise Conflict("TeamNotEmpty", message, facts={"team": row.name, **found})
    before = {"name": row.name, "slug": row.slug, "contact": row.contact}
    # Recorded first: afterwards the row has no key to be recorded by.
    record_audit(actor=actor, verb="team.deleted", target=row, before=before, note=said["note"], now=now)
    try:
        row.delete()
    except ProtectedError as error:
        # What a higher app keeps here (data sources) is not this one's to count.
        message = _("{team} still holds {count} data sources or other things. Move or delete them first.")
        facts = {"team": row.name, "count": len(error.protected_objects)}
        raise Conflict("TeamNotEmpty", message, facts=facts) from error
