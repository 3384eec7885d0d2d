"""Who used what: segments of use, rated entries, periods. Rows are added, never changed."""

import uuid

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import RangeBoundary, RangeOperators
from django.db import models
from django.db.models import F, Q

from tenants.models.rules import TimeRange


class Period(models.Model):
    """A metering period in its own time zone, half-open. A closed one takes corrections only."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=40, unique=True)
    zone = models.CharField(max_length=60, default="UTC")
    start = models.DateTimeField()
    end = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-start"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="period_forward"),
            ExclusionConstraint(
                name="period_no_overlap",
                expressions=[(TimeRange("start", "end", RangeBoundary()), RangeOperators.OVERLAPS)],
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Segment(models.Model):
    """One quantity of one resource held over [start, end) in one phase, cut at every boundary.

    Attribution is frozen as text when made. In the database partitioned by month of `start`, key (start, id).
    """

    id = models.UUIDField(primary_key=True, editable=False)  # derived from its source: rebuilding gives the same
    start = models.DateTimeField()
    end = models.DateTimeField()
    phase = models.CharField(max_length=12)  # startup, running, release_lag, reserved
    lane = models.CharField(max_length=16, default="attributed")
    quantity = models.BigIntegerField()
    class_key = models.CharField(max_length=63)
    resource = models.CharField(max_length=20)
    node_name = models.CharField(max_length=253)
    cluster_key = models.CharField(max_length=63)
    pool_key = models.CharField(max_length=63)
    allocation_id = models.UUIDField()
    attempt_id = models.UUIDField()
    job_id = models.UUIDField()
    job_name = models.CharField(max_length=200)
    task_type = models.CharField(max_length=20)
    project_id = models.UUIDField()
    project_name = models.CharField(max_length=200)
    team_id = models.UUIDField()
    team_name = models.CharField(max_length=200)
    user_id = models.UUIDField()
    user_name = models.CharField(max_length=200)
    reverses_id = models.UUIDField(null=True)
    recorded_at = models.DateTimeField()

    class Meta:
        ordering = ["start", "id"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="segment_forward"),
            models.CheckConstraint(condition=Q(quantity__gt=0), name="segment_positive"),
        ]
        indexes = [
            models.Index(fields=["user_id", "start"], name="segment_user"),
            models.Index(fields=["project_id", "start"], name="segment_project"),
            models.Index(fields=["job_id"], name="segment_job"),
        ]


class MeteredAllocation(models.Model):
    """An allocation that has been entered, so that each is entered once, also one too short for a segment."""

    allocation_id = models.UUIDField(primary_key=True)
    recorded_at = models.DateTimeField()

    class Meta:
        default_permissions = ()


class LedgerEntry(models.Model):
    """A segment rated by the version in force then. Null cost is unrated, never 0.

    `quantity_ms` = quantity × milliseconds; cost and weight are exact, in millionths.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    start = models.DateTimeField()
    segment_id = models.UUIDField()
    period_id = models.UUIDField(null=True)
    rate_id = models.UUIDField(null=True)
    quantity_ms = models.DecimalField(max_digits=38, decimal_places=0)
    currency = models.CharField(max_length=10, blank=True)
    cost_micro = models.DecimalField(max_digits=38, decimal_places=12, null=True)
    weight_micro = models.DecimalField(max_digits=38, decimal_places=12, null=True)
    recorded_at = models.DateTimeField()

    class Meta:
        ordering = ["start", "id"]
        default_permissions = ()
        indexes = [models.Index(fields=["segment_id"], name="entry_segment")]
