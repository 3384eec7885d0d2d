"""People, the tree of teams, projects at its leaves, and who holds which role where."""

import uuid
from typing import Any

from django.contrib.auth.models import AbstractUser, Group
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from tenants.roles import PERMISSIONS, Role, codename

SCOPE_PERMISSIONS: list[Any] = [(codename(p), p) for p in PERMISSIONS]


class User(AbstractUser):
    """A person who signs in. Identity is the key, never the name, which may change or be reused."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    display_name = models.CharField(_("name"), max_length=120, blank=True)
    language = models.CharField(_("language"), max_length=10, blank=True)

    class Meta(AbstractUser.Meta):
        default_permissions = ()

    def __str__(self) -> str:
        return self.display_name or self.username


class Team(models.Model):
    """A node of the tenant tree. The one without a parent is the organisation."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=63, unique=True)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    # Keys from the root down, each followed by a dot: "below this team" is a prefix match.
    path = models.TextField(unique=True, editable=False)
    contact = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["path"]
        default_permissions = ()
        permissions = SCOPE_PERMISSIONS
        constraints = [
            models.UniqueConstraint(
                fields=["parent"],
                condition=Q(parent__isnull=True),
                nulls_distinct=False,
                name="one_organisation",
            ),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")), name="team_not_its_own_parent"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def path_of(key: uuid.UUID, parent: "Team | None") -> str:
        """The path a team with this key has below that parent."""
        return f"{parent.path if parent else ''}{key.hex}."


class Project(models.Model):
    """Where jobs, quota and usage belong. One project, one cost owner."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="projects")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=63, unique=True)
    environment = models.CharField(max_length=40, default="research")
    contact = models.CharField(max_length=200, blank=True)
    # Why no job of this project may start now ("" when none is held back); the cycle reads it.
    held_reason = models.CharField(max_length=60, blank=True)
    # Digest of the token a caller of this project's services must show; the token itself is shown once.
    service_token_sha256 = models.CharField(max_length=64, blank=True)
    service_token_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["slug"]
        default_permissions = ()
        permissions = SCOPE_PERMISSIONS

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A role held by a user or a group in one scope. The guardian rows are derived from it, by one service."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    role = models.CharField(max_length=20, choices=[(r.value, r.value) for r in Role])
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.CASCADE, related_name="memberships")
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE, related_name="memberships")
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.CASCADE, related_name="memberships")
    pool_key = models.CharField(max_length=63, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at", "id"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=True, group__isnull=False) | Q(user__isnull=False, group__isnull=True),
                name="membership_of_user_or_group",
            ),
            models.CheckConstraint(
                condition=Q(team__isnull=False, project__isnull=True, pool_key="")
                | Q(team__isnull=True, project__isnull=False, pool_key="")
                | (Q(team__isnull=True, project__isnull=True) & ~Q(pool_key="")),
                name="membership_in_one_scope",
            ),
            models.CheckConstraint(condition=Q(role__in=[r.value for r in Role]), name="membership_role_known"),
            models.UniqueConstraint(
                fields=["user", "group", "role", "team", "project", "pool_key"],
                nulls_distinct=False,
                name="membership_once",
            ),
        ]

    @property
    def scope(self) -> Team | Project | None:
        """Where it is held; None for a pool, which this app does not know."""
        return self.project or self.team
