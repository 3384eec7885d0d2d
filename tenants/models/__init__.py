"""Who, and by which rules: people and scopes, grants and quotas, requests, the audit trail."""

from tenants.models.audit import AuditEvent
from tenants.models.people import Membership, Project, Team, User
from tenants.models.permissions import (
    ProjectGroupPermission,
    ProjectUserPermission,
    TeamGroupPermission,
    TeamUserPermission,
)
from tenants.models.rules import Grant, QuotaCell, Request

__all__ = [
    "AuditEvent",
    "Grant",
    "Membership",
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
