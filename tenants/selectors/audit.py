"""The audit trail as its readers may see it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Model, Q, QuerySet

from tenants import access
from tenants.access import Actor
from tenants.models import AuditEvent, Project, Team

RESULTS = ("done", "denied", "failed")


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """What to keep; an empty value keeps everything. Times are half-open [since, until). See `privileged`."""

    verb: str = ""
    actor: str = ""
    result: str = ""
    project: str = ""
    team: str = ""
    target_type: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None
    privileged: bool = False

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
    if wanted.team:
        rows = rows.filter(team_id__in=_teams_below(wanted.team))
    if wanted.target_type:
        rows = rows.filter(target_type=wanted.target_type)
    if wanted.text:
        said = Q(target_name__icontains=wanted.text) | Q(note__icontains=wanted.text)
        rows = rows.filter(said | Q(reason__icontains=wanted.text))
    if wanted.since:
        rows = rows.filter(at__gte=wanted.since)
    if wanted.until:
        rows = rows.filter(at__lt=wanted.until)
    return privileged(rows) if wanted.privileged else rows


def _teams_below(slug: str) -> list[UUID]:
    """Keys of the team and of every team below it; none for a slug that is no team's."""
    path = Team.objects.filter(slug=slug).values_list("path", flat=True).first()
    return list(Team.objects.filter(path__startswith=path).values_list("pk", flat=True)) if path else []


def records_of(target: Model) -> QuerySet[AuditEvent]:
    """Records about one object, newest first; whoever may see the object may read them."""
    return AuditEvent.objects.filter(target_type=type(target).__name__, target_id=str(target.pk)).order_by("-seq")


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


_EVERYDAY = ("job.", "session.", "token.", "service_token.", "access.", "allocation.")


def privileged(rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
    """Of these records what changed rules, people or the fleet: all that is not everyday work and was done."""
    everyday = Q()
    for prefix in _EVERYDAY:
        everyday |= Q(verb__startswith=prefix)
    return rows.filter(result="done").exclude(everyday)
