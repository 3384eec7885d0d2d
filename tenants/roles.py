"""THE permission table: which role may see, ask, change or manage which kind of thing, in its scope.

Pure. Documentation, guardian's object permissions and the access tests' comparison all read it;
the expected results of the access matrix are written by hand and never computed from here.
A permission is `<object>.<verb>`; a role is held in one scope (organisation, team, project or pool)
and reaches everything below that scope.
"""

from enum import StrEnum

VERBS = ("see", "ask", "change", "manage")
OBJECTS = (
    "project",
    "team",
    "member",
    "job",
    "template",
    "data",
    "quota",
    "request",
    "usage",
    "period",
    "pool",
    "cluster",
    "policy",
    "audit",
)
PERMISSIONS: tuple[str, ...] = tuple(f"{thing}.{verb}" for thing in OBJECTS for verb in VERBS)


class Scope(StrEnum):
    """Where a role may be held. The organisation is the root team."""

    ORGANISATION = "organisation"
    TEAM = "team"
    PROJECT = "project"
    POOL = "pool"


class Role(StrEnum):
    """Built-in roles; one word per idea, both languages in the glossary."""

    PLATFORM_ADMIN = "platform_admin"
    POOL_ADMIN = "pool_admin"
    AUDITOR = "auditor"
    MANAGER = "manager"
    LEAD = "lead"
    OWNER = "owner"
    MEMBER = "member"
    VIEWER = "viewer"


SCOPES: dict[Role, tuple[Scope, ...]] = {
    Role.PLATFORM_ADMIN: (Scope.ORGANISATION,),
    Role.POOL_ADMIN: (Scope.POOL,),
    Role.AUDITOR: (Scope.ORGANISATION, Scope.TEAM),
    Role.MANAGER: (Scope.ORGANISATION, Scope.TEAM),
    Role.LEAD: (Scope.TEAM,),
    Role.OWNER: (Scope.PROJECT,),
    Role.MEMBER: (Scope.PROJECT,),
    Role.VIEWER: (Scope.ORGANISATION, Scope.TEAM, Scope.PROJECT),
}


def _all(verb: str, *things: str) -> frozenset[str]:
    return frozenset(f"{thing}.{verb}" for thing in things)


_VIEWER = _all("see", "project", "job", "template", "data", "quota", "usage")
_MEMBER = _VIEWER | _all("ask", "job", "request", "data") | _all("see", "member", "request")
_OWNER = _MEMBER | _all("change", "project", "member", "job", "template", "data")
_LEAD = _OWNER | _all("see", "team", "period") | _all("change", "team", "request") | _all("ask", "quota")
_MANAGER = _all("see", "project", "team", "member", "job", "quota", "request", "usage", "period", "pool")
_AUDITOR = _all("see", *OBJECTS)

GRANTS: dict[Role, frozenset[str]] = {
    Role.VIEWER: _VIEWER,
    Role.MEMBER: _MEMBER,
    Role.OWNER: _OWNER,
    Role.LEAD: _LEAD,
    Role.MANAGER: _MANAGER,
    Role.AUDITOR: _AUDITOR,
    Role.POOL_ADMIN: _all("see", "pool", "cluster", "policy") | _all("change", "pool"),
    Role.PLATFORM_ADMIN: frozenset(p for p in PERMISSIONS if p.partition(".")[0] != "audit") | _all("see", "audit"),
}


def codename(permission: str) -> str:
    """The name guardian stores: a dot is not allowed in a codename."""
    return permission.replace(".", "_")


def roles_with(permission: str) -> tuple[Role, ...]:
    """Roles that carry the permission, the least powerful first; a denial names them."""
    return tuple(sorted((r for r in Role if permission in GRANTS[r]), key=lambda r: len(GRANTS[r])))
