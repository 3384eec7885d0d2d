"""Make a new token for calling a project's services; the old one ends with the services' next start."""

import secrets
from datetime import datetime
from hashlib import sha256

from django.db import transaction

from tenants import access
from tenants.models import Project, User
from tenants.services.record_audit import record_audit


@transaction.atomic
def renew_service_token(*, actor: User | None, project: Project, now: datetime) -> str:
    """The token in clear, for the one time it is shown; only its SHA-256 is kept."""
    if actor is not None:
        access.require(actor, "project.change", project)
    token = f"arm_{secrets.token_urlsafe(32)}"
    digest = sha256(token.encode()).hexdigest()
    Project.objects.filter(pk=project.pk).update(service_token_sha256=digest, service_token_at=now)
    record_audit(actor=actor, verb="service_token.renewed", target=project, now=now)
    return token
