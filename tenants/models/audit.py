"""The audit trail: append-only, hash-chained, partitioned by month."""

import uuid

from django.db import models


class AuditEvent(models.Model):
    """Who did what to what, with which result. Names are frozen as text; later renames change nothing here.

    In the database the primary key is (at, seq), the table is partitioned by month of `at`, a trigger
    refuses update and delete, and the application's role may only select and insert.
    """

    seq = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=200, blank=True)
    verb = models.CharField(max_length=60)
    result = models.CharField(max_length=10, default="done")  # done, denied, failed
    target_type = models.CharField(max_length=40, blank=True)
    target_id = models.CharField(max_length=64, blank=True)
    target_name = models.CharField(max_length=300, blank=True)
    team_id = models.UUIDField(null=True)
    project_id = models.UUIDField(null=True)
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    reason = models.CharField(max_length=60, blank=True)
    note = models.TextField(blank=True)
    request_id = models.UUIDField(default=uuid.uuid4)
    source_ip = models.GenericIPAddressField(null=True)
    digest = models.CharField(max_length=20, default="sha256")
    prev_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["-seq"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["-seq"], name="audit_seq"),
            models.Index(fields=["project_id", "-seq"], name="audit_project"),
            models.Index(fields=["target_type", "target_id"], name="audit_target"),
        ]
