"""What people declare about hardware: facts of a class, equivalences between classes, rows of the catalogue of names.

Each says who said it, when and on what grounds; nothing here is measured by the portal.
"""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from resources.models.catalogue import ResourceClass


class ClassFact(models.Model):
    """A fact of a class with its source and date. A newer one on the same subject ends the one before.

    `amount` is operations per second of a throughput, devices of an island, NUMA nodes of a host.
    """

    class Topic(models.TextChoices):
        THROUGHPUT = "throughput", _("Nominal throughput")
        ISLAND = "island", _("Island of fast links")
        NUMA = "numa", _("NUMA nodes")
        FRAMEWORK = "framework", _("Framework")
        OPERATORS = "operators", _("Operators")

    class Support(models.TextChoices):
        YES = "yes", _("supported")
        PARTLY = "partly", _("partly supported")
        NO = "no", _("not supported")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    resource_class = models.ForeignKey(ResourceClass, on_delete=models.CASCADE, related_name="facts")
    topic = models.CharField(max_length=12, choices=Topic.choices)
    subject = models.CharField(max_length=120, blank=True)  # precision, link, framework and version, operator
    amount = models.BigIntegerField(null=True, blank=True)
    support = models.CharField(max_length=6, choices=Support.choices, blank=True)
    source = models.CharField(max_length=300)
    as_of = models.DateField()
    declared_at = models.DateTimeField()
    declared_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["topic", "subject", "-declared_at"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["resource_class", "topic", "subject"],
                condition=Q(withdrawn_at__isnull=True),
                name="class_fact_one_in_force",
            ),
            models.CheckConstraint(
                condition=Q(topic__in=["framework", "operators"], amount__isnull=True)
                | Q(topic__in=["throughput", "island", "numa"], amount__gt=0, support=""),
                name="class_fact_shape",
            ),
        ]


class ClassEquivalence(models.Model):
    """Jobs of one type that ask for `of` may be given `by` as well: in this direction only, until its end (R-47)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    of = models.ForeignKey(ResourceClass, on_delete=models.CASCADE, related_name="replaced_by")
    by = models.ForeignKey(ResourceClass, on_delete=models.CASCADE, related_name="replaces")
    task_type = models.CharField(max_length=20)
    evidence = models.CharField(max_length=1_000, blank=True)
    evidence_job = models.UUIDField(null=True, blank=True)
    declared_at = models.DateTimeField()
    declared_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    valid_to = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["of", "by", "task_type", "-declared_at"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=~Q(of=F("by")), name="equivalence_of_two"),
            models.CheckConstraint(condition=Q(valid_to__gt=F("declared_at")), name="equivalence_forward"),
            models.CheckConstraint(
                condition=~Q(evidence="") | Q(evidence_job__isnull=False), name="equivalence_has_evidence"
            ),
            models.UniqueConstraint(
                fields=["of", "by", "task_type"],
                condition=Q(withdrawn_at__isnull=True),
                name="equivalence_one_open",
            ),
        ]


class VendorRow(models.Model):
    """What a resource name means, laid over the catalogue that comes with the portal (R-04).

    `pattern` is the name, where one `*` stands for any part without "/". Memory labels are in `memory_unit` bytes.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    pattern = models.CharField(max_length=253, unique=True)
    vendor = models.CharField(max_length=60)
    vendor_name = models.CharField(max_length=120)
    kind = models.CharField(max_length=12)
    unit = models.CharField(max_length=20)
    model_label = models.CharField(max_length=317, blank=True)
    memory_label = models.CharField(max_length=317, blank=True)
    memory_unit = models.BigIntegerField(default=1 << 20)
    driver_label = models.CharField(max_length=317, blank=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["pattern"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.pattern
