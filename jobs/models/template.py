"""Job templates: a stable slug and numbered versions that never change once published."""

import uuid

from django.db import models
from django.db.models import Q

from resources.task_types import TASK_TYPES
from tenants.models import Project, User


class JobTemplate(models.Model):
    """What researchers start from. Without a project it is shipped with the product and seen by everyone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=63, unique=True)
    project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.CASCADE, related_name="templates")
    task_type = models.CharField(max_length=20)
    retired_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    access_via = "project"

    class Meta:
        ordering = ["slug"]
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(task_type__in=TASK_TYPES), name="template_task_type_known")]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with the product: then no person has published any of it."""
        return self.project_id is None and not self.versions.filter(published_by__isnull=False).exists()


class TemplateVersion(models.Model):
    """One published version: titles, typed parameters, resources, members, end rule, all in `spec`.

    The shape of `spec` is `jobs.shipped.catalogue.Template` as a plain dict.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    template = models.ForeignKey(JobTemplate, on_delete=models.CASCADE, related_name="versions")
    number = models.IntegerField()
    spec = models.JSONField()
    published_at = models.DateTimeField()
    published_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["template", "-number"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["template", "number"], name="template_version_once")]
