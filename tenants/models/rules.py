"""The rules of use: grants of pools, the quota tree's cells, and requests for more."""

import uuid

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeBoundary, RangeOperators
from django.db import models
from django.db.models import F, Func, Q
from django.utils.translation import gettext_lazy as _

from tenants.models.people import Project, Team, User

ONE_TENANT = Q(team__isnull=True, project__isnull=False) | Q(team__isnull=False, project__isnull=True)


class TimeRange(Func):
    """tstzrange(from, to, '[)'): half-open, an absent end is unbounded."""

    function = "TSTZRANGE"
    output_field = DateTimeRangeField()


class Grant(models.Model):
    """Which pool a project, or every project below a team, may use, when, and within which bounds.

    Pools are named by key: one that does not exist is reason `PoolNotFound`, never a crash.
    An absent bound is no rule; 0 allows none.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE, related_name="grants")
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.CASCADE, related_name="grants")
    pool_key = models.CharField(max_length=63)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)
    priority_ceiling = models.IntegerField(null=True, blank=True)
    class_ceiling = models.CharField(max_length=20, blank=True)
    largest_job_parts = models.BigIntegerField(null=True, blank=True)  # device parts
    longest_limit_ms = models.BigIntegerField(null=True, blank=True)
    most_at_once = models.IntegerField(null=True, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pool_key", "valid_from"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=ONE_TENANT, name="grant_to_team_or_project"),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="grant_period_forward",
            ),
            models.CheckConstraint(
                condition=(Q(largest_job_parts__isnull=True) | Q(largest_job_parts__gte=0))
                & (Q(longest_limit_ms__isnull=True) | Q(longest_limit_ms__gte=0))
                & (Q(most_at_once__isnull=True) | Q(most_at_once__gte=0)),
                name="grant_bounds_not_negative",
            ),
            ExclusionConstraint(
                name="grant_project_no_overlap",
                expressions=[
                    ("project", RangeOperators.EQUAL),
                    ("pool_key", RangeOperators.EQUAL),
                    (TimeRange("valid_from", "valid_to", RangeBoundary()), RangeOperators.OVERLAPS),
                ],
                condition=Q(project__isnull=False),
            ),
            ExclusionConstraint(
                name="grant_team_no_overlap",
                expressions=[
                    ("team", RangeOperators.EQUAL),
                    ("pool_key", RangeOperators.EQUAL),
                    (TimeRange("valid_from", "valid_to", RangeBoundary()), RangeOperators.OVERLAPS),
                ],
                condition=Q(team__isnull=False),
            ),
        ]

    @property
    def tenant(self) -> Team | Project:
        """Whose it is."""
        tenant = self.project or self.team
        assert tenant is not None
        return tenant


class QuotaCell(models.Model):
    """One cell of the quota tree: tenant node × pool × class × resource, in base units.

    `guarantee` is never lent, `nominal` is normally theirs, `ceiling` is never passed.
    Null means no rule, 0 means none (scheduling.md, Ledger and quota).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.CASCADE, related_name="quota_cells")
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.CASCADE, related_name="quota_cells")
    pool_key = models.CharField(max_length=63)
    class_key = models.CharField(max_length=63)
    resource = models.CharField(max_length=20)
    guarantee = models.BigIntegerField(null=True, blank=True)
    nominal = models.BigIntegerField(null=True, blank=True)
    ceiling = models.BigIntegerField(null=True, blank=True)
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["pool_key", "class_key", "resource"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=ONE_TENANT, name="cell_of_team_or_project"),
            models.CheckConstraint(
                condition=(Q(guarantee__isnull=True) | Q(guarantee__gte=0))
                & (Q(nominal__isnull=True) | Q(nominal__gte=0))
                & (Q(ceiling__isnull=True) | Q(ceiling__gte=0)),
                name="cell_not_negative",
            ),
            models.CheckConstraint(
                condition=(Q(guarantee__isnull=True) | Q(nominal__isnull=True) | Q(guarantee__lte=F("nominal")))
                & (Q(nominal__isnull=True) | Q(ceiling__isnull=True) | Q(nominal__lte=F("ceiling")))
                & (Q(guarantee__isnull=True) | Q(ceiling__isnull=True) | Q(guarantee__lte=F("ceiling"))),
                name="cell_guarantee_nominal_ceiling",
            ),
            models.UniqueConstraint(
                fields=["team", "project", "pool_key", "class_key", "resource"],
                nulls_distinct=False,
                name="cell_once",
            ),
        ]

    @property
    def tenant(self) -> Team | Project:
        """Whose it is."""
        tenant = self.project or self.team
        assert tenant is not None
        return tenant


class Request(models.Model):
    """Something asked of an approver. Its flow comes with tenancy; here it may be a draft or hold a job back."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="requests")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="requests")
    kind = models.CharField(max_length=40)
    state = models.CharField(max_length=20, choices=State.choices, default=State.DRAFT)
    asked = models.JSONField(default=dict)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at"]
        default_permissions = ()
