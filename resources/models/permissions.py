"""Guardian's tables for pools; see tenants.models.permissions."""

from django.db import models
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from resources.models.fleet import Pool


class PoolUserPermission(UserObjectPermissionBase):
    """A permission of a user on a pool."""

    content_object = models.ForeignKey(Pool, on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        default_permissions = ()


class PoolGroupPermission(GroupObjectPermissionBase):
    """A permission of a group on a pool."""

    content_object = models.ForeignKey(Pool, on_delete=models.CASCADE)

    class Meta(GroupObjectPermissionBase.Meta):
        default_permissions = ()
