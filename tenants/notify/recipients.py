"""Who is to hear of an event, as a rule: it is resolved when the outbox row is fanned out."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal
from uuid import UUID

from tenants.models.people import Project, Team, User
from tenants.roles import Role, roles_with

Reach = Literal["above", "around", "anywhere"]
"""Where a role counts: in the scope and above it, also below it, or wherever it is held."""


@dataclass(frozen=True, slots=True)
class Recipients:
    """People named by key, and holders of roles in reach of a scope; keys are text, so that it can be stored."""

    people: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    reach: Reach = "above"
    team: str = ""
    project: str = ""
    pool: str = ""
    but: str = ""  # who did it need not be told

    def stored(self) -> dict[str, Any]:
        """The rule as plain JSON, without what it does not say."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items() if v}


def read_recipients(stored: Mapping[str, Any]) -> Recipients:
    """The rule that `Recipients.stored` wrote."""
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in stored.items()}
    return Recipients(**values)


def people(*keys: UUID) -> Recipients:
    """Just these."""
    return Recipients(people=tuple(str(key) for key in keys))


def holders(
    permission: str,
    *,
    reach: Reach = "above",
    team: UUID | None = None,
    project: UUID | None = None,
    pool: str = "",
    but: UUID | None = None,
) -> Recipients:
    """Everyone whose role carries the permission in reach of the scope."""
    return in_roles(roles_with(permission), reach=reach, team=team, project=project, pool=pool, but=but)


def in_roles(
    roles: Iterable[Role],
    *,
    reach: Reach = "above",
    team: UUID | None = None,
    project: UUID | None = None,
    pool: str = "",
    but: UUID | None = None,
) -> Recipients:
    """Everyone who holds one of the roles in reach of the scope; a pool is also in reach of the organisation."""
    return Recipients(
        roles=tuple(str(role) for role in roles),
        reach=reach,
        team=str(team or ""),
        project=str(project or ""),
        pool=pool,
        but=str(but or ""),
    )


def tenant_leads(tenant: Team | Project, actor: User | None) -> Recipients:
    """Leads and owners whom a rule of this tenant concerns, but for the one who set it."""
    return in_roles(
        [Role.LEAD, Role.OWNER],
        reach="around",
        team=tenant.pk if isinstance(tenant, Team) else None,
        project=tenant.pk if isinstance(tenant, Project) else None,
        but=actor.pk if actor else None,
    )
