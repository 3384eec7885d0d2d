"""Guardian's tables for our scopes: direct foreign keys, so that a deleted scope takes its permissions along.

The only models that know guardian; everything else asks tenants.access.
"""

from django.db import models
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from tenants.models.people import Project, Team


class TeamUserPermission(UserObjectPermissionBase):
    """A permission of a user on a team."""

    content_object = models.ForeignKey(Team, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        default_permissions = ()


class TeamGroupPermission(GroupObjectPermissionBase):
    """A permission of a group on a team."""

    content_object = models.ForeignKey(Team, on_delete=models.CASCADE)

    class Meta(GroupObjectPermissionBase.Meta):
        default_permissions = ()


class ProjectUserPermission(UserObjectPermissionBase):
    """A permission of a user on a project."""

    content_object = models.ForeignKey(Project, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        default_permissions = ()


class ProjectGroupPermission(GroupObjectPermissionBase):
    """A permission of a group on a project."""

    content_object = models.ForeignKey(Project, on_delete=models.CASCADE)

    class Meta(GroupObjectPermissionBase.Meta):
        default_permissions = ()
