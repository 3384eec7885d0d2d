"""Who, and by which rules: people and scopes, grants and quotas, requests, the audit trail."""

from tenants.models.audit import AuditEvent
from tenants.models.notices import Notice, Outbox
from tenants.models.people import Membership, Project, Team, User
from tenants.models.permissions import (
    ProjectGroupPermission,
    ProjectUserPermission,
    TeamGroupPermission,
    TeamUserPermission,
)
from tenants.models.rules import Grant, QuotaCell, Request
from tenants.models.tokens import ApiToken

__all__ = [
    "ApiToken",
    "AuditEvent",
    "Grant",
    "Membership",
    "Notice",
    "Outbox",
    "Project",
    "ProjectGroupPermission",
    "ProjectUserPermission",
    "QuotaCell",
    "Request",
    "Team",
    "TeamGroupPermission",
    "TeamUserPermission",
    "User",
]
