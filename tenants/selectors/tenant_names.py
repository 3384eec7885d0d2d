"""What a tenant of the scheduler, a team or a project, is called."""

from tenants.models import Project, Team


def tenant_name(key: str) -> str:
    """The name of the team or project with this key. Raises Project.DoesNotExist for neither."""
    team = Team.objects.filter(pk=key).first()
    return team.name if team else Project.objects.get(pk=key).name
