"""Give a team another name or contact."""

from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import Team, User
from tenants.naming import changed, checked, refuse_lookalike
from tenants.services.record_audit import record_audit


@transaction.atomic
def change_team(*, actor: User | None, team: Team, name: str, contact: str, now: datetime, note: str = "") -> Team:
    """The team as it is now. Its slug and place in the tree stay. Unchanged values leave no record."""
    if actor is not None:
        access.require(actor, "team.change", team)
    said = checked(name=name, contact=contact, note=note)
    if team.parent_id:
        Team.objects.select_for_update(of=("self",)).get(pk=team.parent_id)
        siblings = Team.objects.filter(parent=team.parent_id).exclude(pk=team.pk)
        refuse_lookalike(said["name"], siblings.values_list("name", flat=True))
    row = Team.objects.select_for_update(of=("self",)).get(pk=team.pk)
    before, after = changed(
        {"name": row.name, "contact": row.contact}, {"name": said["name"], "contact": said["contact"]}
    )
    if after:
        row.name, row.contact = said["name"], said["contact"]
        row.save(update_fields=["name", "contact"])
        record_audit(
            actor=actor, verb="team.changed", target=row, before=before, after=after, note=said["note"], now=now
        )
    return row
