"""Publish the templates that only Kubernetes clusters run, once there is such a cluster."""

from datetime import datetime

from jobs.models import TemplateVersion
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.shipped.containers import DRIVER, TEMPLATES
from resources.models import Cluster


def publish_container_templates(*, now: datetime) -> int:
    """How many versions are new. Idempotent; two queries where there is nothing to do."""
    if not Cluster.objects.filter(driver=DRIVER).exclude(state=Cluster.State.DETACHED).exists():
        return 0
    known = TemplateVersion.objects.filter(template__slug__in=[one.slug for one in TEMPLATES])
    there = set(known.values_list("template__slug", "number"))
    missing = [one for one in TEMPLATES if (one.slug, one.version) not in there]
    return publish_shipped_templates(now=now, templates=missing) if missing else 0
