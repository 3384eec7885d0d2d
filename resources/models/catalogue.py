"""The catalogue: classes, runtimes, dated rates and data sources. A new vendor or model is a row here (R-04)."""

import uuid

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import RangeBoundary, RangeOperators
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from tenants.models import Project, Team
from tenants.models.rules import TimeRange


class Kind(models.TextChoices):
    """Resource kinds; not interchangeable, each with its own hue and unit (R-01)."""

    GPU = "GPU", _("GPU")
    NPU = "NPU", _("NPU")
    ACCELERATOR = "ACCELERATOR", _("Accelerator")
    CPU = "CPU", _("CPU")
    MEMORY = "MEMORY", _("Memory")
    STORAGE = "STORAGE", _("Storage")
    NETWORK = "NETWORK", _("Network")


RESOURCE_OF_KIND: dict[str, str] = {
    Kind.GPU: "device",
    Kind.NPU: "device",
    Kind.ACCELERATOR: "device",
    Kind.CPU: "cpu",
    Kind.MEMORY: "memory",
    Kind.STORAGE: "storage",
    Kind.NETWORK: "network",
}


class ResourceClass(models.Model):
    """What a template asks for ("80 GB training GPU"), and how nodes' own words map to it.

    `resource` is the axis it is counted on: device (parts), cpu (milli), memory or storage (bytes).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.SlugField(max_length=63, unique=True)
    name = models.JSONField(default=dict)  # {"en": …, "zh-hans": …}
    kind = models.CharField(max_length=12, choices=Kind.choices)
    resource = models.CharField(max_length=20)
    vendor = models.CharField(max_length=60, blank=True)
    model = models.CharField(max_length=120, blank=True)
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    # Which node facts make a device one of this class: {"resource_name": …, "model": …}; data, not code.
    match = models.JSONField(default=dict, blank=True)
    labels = models.JSONField(default=dict, blank=True)
    maintainer = models.CharField(max_length=200, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["kind", "key"]
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(kind__in=Kind.values), name="class_kind_known")]

    def __str__(self) -> str:
        return self.key


class Runtime(models.Model):
    """Image or interpreter, framework and needs; a job combines it only with classes it is declared for (R-23)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.SlugField(max_length=63, unique=True)
    name = models.JSONField(default=dict)
    driver_kind = models.CharField(max_length=20)
    image = models.CharField(max_length=500, blank=True)
    framework = models.CharField(max_length=120, blank=True)
    version = models.CharField(max_length=60, blank=True)
    runtime_class = models.CharField(max_length=63, blank=True)
    kinds = models.JSONField(default=list)  # resource kinds it is declared for
    classes = models.ManyToManyField(ResourceClass, blank=True, related_name="runtimes")
    task_types = models.JSONField(default=list, blank=True)  # empty: every one
    driver_range = models.CharField(max_length=120, blank=True)  # versions of the device driver: ">=535, <580"
    maintainer = models.CharField(max_length=200, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)
    source = models.CharField(max_length=300, blank=True)
    declared_at = models.DateTimeField()

    class Meta:
        ordering = ["key"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.key


class RateVersion(models.Model):
    """What one unit-hour of a class costs and weighs, from a day on. Published rows never change.

    `price_micro` is millionths of the currency per unit-hour (unit: one device, one core, one GiB);
    `weight` is compute units per unit-hour. Null is unrated, never 0. Periods may not overlap.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    class_key = models.CharField(max_length=63)
    resource = models.CharField(max_length=20)
    currency = models.CharField(max_length=10, default="points")
    price_micro = models.BigIntegerField(null=True, blank=True)
    weight_micro = models.BigIntegerField(null=True, blank=True)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField()
    note = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["class_key", "valid_from"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="rate_period_forward",
            ),
            models.CheckConstraint(
                condition=(Q(price_micro__isnull=True) | Q(price_micro__gte=0))
                & (Q(weight_micro__isnull=True) | Q(weight_micro__gte=0)),
                name="rate_not_negative",
            ),
            ExclusionConstraint(
                name="rate_no_overlap",
                expressions=[
                    ("class_key", RangeOperators.EQUAL),
                    ("resource", RangeOperators.EQUAL),
                    (TimeRange("valid_from", "valid_to", RangeBoundary()), RangeOperators.OVERLAPS),
                ],
            ),
        ]


class DataSource(models.Model):
    """Data a job may read: what it is, where it lies, how large, and who may use it (R-16)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    team = models.ForeignKey(Team, null=True, blank=True, on_delete=models.PROTECT, related_name="data_sources")
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="data_sources")
    cluster_key = models.CharField(max_length=63, blank=True)
    location = models.CharField(max_length=1000)
    bytes = models.BigIntegerField(null=True, blank=True)
    digest = models.CharField(max_length=80, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(team__isnull=True, project__isnull=False) | Q(team__isnull=False, project__isnull=True),
                name="data_of_team_or_project",
            )
        ]

    def __str__(self) -> str:
        return self.name
