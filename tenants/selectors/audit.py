"""The audit trail as its readers may see it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from tenants import access
from tenants.access import Actor
from tenants.models import AuditEvent, Project

RESULTS = ("done", "denied", "failed")


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What to keep; an empty value keeps everything. Times are half-open [since, until)."""

    verb: str = ""
    actor: str = ""
    result: str = ""
    project: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_set(self) -> bool:
        """Whether anything is filtered at all."""
        return self != AuditFilter()


def require_audit(user: Actor) -> None:
    """Raise Denied unless the user may read the audit of the organisation or of some team."""
    if not access.visible_teams(user, "audit.see").exists():
        access.require_platform(user, "audit.see")


def audit_visible_to(user: Actor) -> QuerySet[AuditEvent]:
    """Everything for those who audit the organisation; else what belongs to the teams they audit and below."""
    if access.at_platform(user, "audit.see"):
        return AuditEvent.objects.order_by("-seq")
    teams = access.visible_teams(user, "audit.see").order_by().values("pk")
    return AuditEvent.objects.filter(team_id__in=teams).order_by("-seq")


def audit_matching(user: Actor, wanted: AuditFilter) -> QuerySet[AuditEvent]:
    """Visible records, newest first, narrowed by the filter."""
    rows = audit_visible_to(user)
    if wanted.verb:
        rows = rows.filter(verb__startswith=wanted.verb)
    if wanted.actor:
        rows = rows.filter(actor_name__icontains=wanted.actor)
    if wanted.result:
        rows = rows.filter(result=wanted.result)
    if wanted.project:
        named = Project.objects.filter(Q(slug=wanted.project) | Q(name__icontains=wanted.project))
        rows = rows.filter(project_id__in=named.order_by().values("pk"))
    if wanted.since:
        rows = rows.filter(at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(at__lt=wanted.until)
    return rows


def page_before(rows: QuerySet[AuditEvent], cursor: int | None, size: int) -> tuple[list[AuditEvent], int | None]:
    """At most `size` records older than the cursor, and the cursor of the next page (None: there is none)."""
    older = rows if cursor is None else rows.filter(seq__lt=cursor)
    page = list(older[: size + 1])
    return page[:size], page[size - 1].seq if len(page) > size else None


def project_slugs(keys: set[UUID]) -> dict[UUID | None, str]:
    """Slugs of projects by key, for links."""
    return dict(Project.objects.filter(pk__in=keys).values_list("pk", "slug"))


def denials_since(user: Actor, now: datetime, span: timedelta) -> int:
    """How many refusals the user may see from the last so much time."""
    return audit_visible_to(user).filter(result="denied", at__gte=now - span).count()
