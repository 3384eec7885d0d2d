"""What jobs leave behind: data sets, checkpoints, models, results, logs."""

import uuid

from django.db import models

from jobs.models.job import Attempt, Job
from tenants.models import Project


class Artifact(models.Model):
    """A file or folder made by an attempt, with its digest; it can be the input of later jobs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="artifacts")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="artifacts")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="artifacts")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20)  # dataset, checkpoint, model, result, log
    location = models.CharField(max_length=1000)
    bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    keep_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    access_via = "project"

    class Meta:
        ordering = ["-created_at", "name"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["attempt", "name"], name="artifact_once")]
        indexes = [
            models.Index(fields=["project", "kind", "-created_at"], name="artifact_kind"),
            models.Index(fields=["-created_at", "id"], name="artifact_newest"),
        ]

    def __str__(self) -> str:
        return self.name
