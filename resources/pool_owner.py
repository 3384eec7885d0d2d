"""The team a pool belongs to, by its short name."""

from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from tenants.models import Team

NO_TEAM = _("There is no such team.")


def team_of(slug: str) -> Team | None:
    """The team; None for "". Raises Invalid for a name that is none."""
    if not slug:
        return None
    team = Team.objects.filter(slug=slug).first() if isinstance(slug, str) else None
    if team is None:
        raise Invalid.of(FieldError("owner", "NoSuchTeam", NO_TEAM, {}))
    return team
