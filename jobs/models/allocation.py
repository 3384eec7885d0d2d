"""What a job holds and the proof that it gave it back. Quota is held by the Allocation, not by the job's state."""

import uuid

from django.db import models
from django.db.models import F, Q

from jobs.models.job import Attempt
from jobs.states import AllocationState
from resources.models import Device, Node
from tenants.models import Project

HOLDING = [state.value for state in AllocationState if state is not AllocationState.RELEASED]


class Allocation(models.Model):
    """A job's hold on a quantity from t2 until it is seen free. A replica step is an allocation of its own."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="allocations")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="allocations")
    pool_key = models.CharField(max_length=63)
    step = models.IntegerField(default=0)
    state = models.CharField(max_length=10)
    reserved_at = models.DateTimeField()
    bound_at = models.DateTimeField(null=True, blank=True)
    releasing_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    leaked_at = models.DateTimeField(null=True, blank=True)

    access_via = "project"

    class Meta:
        ordering = ["reserved_at", "id"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=[s.value for s in AllocationState]), name="allocation_state_known"
            ),
            models.CheckConstraint(
                condition=Q(released_at__isnull=True) | Q(released_at__gte=F("reserved_at")),
                name="allocation_forward",
            ),
            models.UniqueConstraint(fields=["attempt", "step"], name="allocation_once"),
        ]
        indexes = [
            models.Index(fields=["project"], name="allocation_holding", condition=Q(state__in=HOLDING)),
            models.Index(fields=["released_at"], name="allocation_released"),
        ]


class AllocationLine(models.Model):
    """One resource of one member on one node, in base units. The sum over lines is what free capacity lacks."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    allocation = models.ForeignKey(Allocation, on_delete=models.CASCADE, related_name="lines")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="lines")
    member = models.IntegerField()
    class_key = models.CharField(max_length=63)
    resource = models.CharField(max_length=20)
    quantity = models.BigIntegerField()
    # What it was given on, for the validation matrix: "" was not observed, null not written down.
    driver_version = models.CharField(max_length=60, null=True, blank=True)
    container_runtime = models.CharField(max_length=120, null=True, blank=True)

    class Meta:
        ordering = ["member", "class_key"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(quantity__gt=0), name="line_positive"),
            models.UniqueConstraint(fields=["allocation", "member", "class_key", "resource"], name="line_once"),
        ]


class DeviceHold(models.Model):
    """A device held by a line, whole or in parts. Two may not hold one whole device: the database refuses it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    line = models.ForeignKey(AllocationLine, on_delete=models.CASCADE, related_name="holds")
    device = models.ForeignKey(Device, on_delete=models.PROTECT, related_name="holds")
    parts = models.BigIntegerField()
    exclusive = models.BooleanField()
    released = models.BooleanField(default=False)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(parts__gt=0), name="hold_positive"),
            models.UniqueConstraint(
                fields=["device"], condition=Q(exclusive=True, released=False), name="device_held_once"
            ),
        ]


class ReleaseRecord(models.Model):
    """Proof of release on three levels, each with its own time and evidence (R-33).

    A level that cannot be observed is `not_observed`; it is never inferred from our own ledger.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    allocation = models.OneToOneField(Allocation, on_delete=models.CASCADE, related_name="release")
    stopped_at = models.DateTimeField()  # t7
    objects_gone_at = models.DateTimeField(null=True, blank=True)
    objects_evidence = models.JSONField(default=dict, blank=True)
    capacity_free_at = models.DateTimeField(null=True, blank=True)
    capacity_evidence = models.JSONField(default=dict, blank=True)
    device_state = models.CharField(max_length=12, default="not_observed")  # idle, busy, not_observed
    device_idle_at = models.DateTimeField(null=True, blank=True)
    device_evidence = models.JSONField(default=dict, blank=True)
    quota_returned_at = models.DateTimeField(null=True, blank=True)
    slot_returned_at = models.DateTimeField(null=True, blank=True)
    temporary_files = models.IntegerField(null=True, blank=True)
    temporary_bytes = models.BigIntegerField(null=True, blank=True)
    temporary_removed_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    leaked_at = models.DateTimeField(null=True, blank=True)

    access_via = "allocation__project"

    class Meta:
        default_permissions = ()
