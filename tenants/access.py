"""The one door to permissions: fetch, visible, require, can.

A role reaches everything below its scope: guardian holds a permission on a team, project or pool; a team's
permission covers the projects and teams below it by path. Superuser is no way in: what is not granted is denied.
"""

import uuid
from collections.abc import Collection
from functools import cache
from typing import Any, TypeVar

from django.contrib.auth.models import AnonymousUser, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db.models import Manager, Model, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from guardian.utils import get_group_obj_perms_model, get_user_obj_perms_model

from portal.lib.errors import Denied, NotFound
from portal.lib.localised import listed
from tenants.models import Membership, Project, Team, User
from tenants.role_words import ROLE_WORDS
from tenants.roles import GRANTS, Role, Scope, codename, roles_with

M = TypeVar("M", bound=Model)
Actor = User | AnonymousUser


def _teams_below(user: User, permission: str) -> Q:
    """Paths at or below the teams where the user holds the permission, as a filter on `path`."""
    by_user, by_group = _held(user, Team, permission, "content_object__path")
    below = Q(pk__in=[])
    for path in by_user.union(by_group):
        below |= Q(path__startswith=path)
    return below


def _direct(user: User, model: type[M], permission: str) -> QuerySet[M]:
    by_user, by_group = _held(user, model, permission, "content_object")
    return model._default_manager.filter(Q(pk__in=by_user) | Q(pk__in=by_group))


def _held(user: User, model: type[Model], permission: str, field: str) -> tuple[QuerySet[Any], QuerySet[Any]]:
    """This field of the scopes on which the user holds the permission: as a person, and through groups.

    Read from guardian's tables without its shortcut, which builds every query in twice the time. Each table is of
    one class, so the codename says all: the same one stands on teams, projects and pools.
    """
    of_users, of_groups = _tables(model)
    rows = of_users.filter(user=user), of_groups.filter(group__user=user)
    by_user, by_group = (each.filter(permission__codename=codename(permission)) for each in rows)
    return by_user.values_list(field, flat=True), by_group.values_list(field, flat=True)


@cache
def _tables(model: type[Model]) -> tuple[Manager[Any], Manager[Any]]:
    """Where guardian keeps what users, and what groups, may do with scopes of this class."""
    kinds: Any = model  # guardian's annotations know objects only
    return get_user_obj_perms_model(kinds)._default_manager, get_group_obj_perms_model(kinds)._default_manager


def visible_teams(user: Actor, permission: str = "team.see") -> QuerySet[Team]:
    """Teams on which the user holds the permission, directly or from above."""
    if not _signed_in(user):
        return Team.objects.none()
    return Team.objects.filter(_teams_below(_known(user), permission))


def visible_projects(user: Actor, permission: str = "project.see") -> QuerySet[Project]:
    """Projects on which the user holds the permission, directly or through a team above."""
    if not _signed_in(user):
        return Project.objects.none()
    known = _known(user)
    direct = _direct(known, Project, permission).order_by().values("pk")
    teams = Team.objects.filter(_teams_below(known, permission)).order_by().values("pk")
    return Project.objects.filter(Q(pk__in=direct) | Q(team__in=teams))


def visible(user: Actor, model: type[M], permission: str) -> QuerySet[M]:
    """Rows of a model the user holds the permission for.

    Teams, projects and pools are scopes; other models say by `access_via` which lookup leads to their project.
    """
    if model is Team:
        return visible_teams(user, permission)  # type: ignore[return-value]
    if model is Project:
        return visible_projects(user, permission)  # type: ignore[return-value]
    if model._meta.permissions:
        return _visible_scopes(user, model, permission)
    path: str = model.access_via  # type: ignore[attr-defined]
    projects = visible_projects(user, permission).order_by().values("pk")
    return model._default_manager.filter(**{f"{path}__in": projects})


def _visible_scopes(user: Actor, model: type[M], permission: str) -> QuerySet[M]:
    """Scopes outside the tree of teams (pools): held on the object itself, or on the whole organisation."""
    if at_platform(user, permission):
        return model._default_manager.all()
    return _direct(_known(user), model, permission) if _signed_in(user) else model._default_manager.none()


def fetch(user: Actor, model: type[M], key: str | uuid.UUID, permission: str, *, related: tuple[str, ...] = ()) -> M:
    """The object if the user may do this with it.

    Raises NotFound when it may not even be seen (or does not exist), Denied when it is seen but this is not allowed.
    """
    see = f"{_kind_of(model, permission)}.see"
    try:
        row = visible(user, model, see).select_related(*related).filter(pk=key).first()
    except (ValidationError, ValueError):
        row = None
    if row is None:
        raise NotFound(f"{model.__name__} {key}")
    if permission != see:
        require(user, permission, row)
    return row


def can(user: Actor, permission: str, target: Model) -> bool:
    """Whether the user holds the permission on this object's scope."""
    if not _signed_in(user):
        return False
    scope = scope_of(target)
    if isinstance(scope, Project):
        return visible_projects(user, permission).filter(pk=scope.pk).exists()
    if isinstance(scope, Team):
        return visible_teams(user, permission).filter(pk=scope.pk).exists()
    return _direct(_known(user), type(scope), permission).filter(pk=scope.pk).exists() or at_platform(user, permission)


def require(user: Actor, permission: str, target: Model) -> None:
    """Raise Denied, with the rule and who can change it, unless `can`."""
    if can(user, permission, target):
        return
    scope = scope_of(target)
    raise Denied(
        "NotPermitted",
        _("This action needs role {role} in {scope}. Request it from {contact}."),
        facts={
            "permission": permission,
            "role": listed(ROLE_WORDS[role] for role in roles_with(permission)[:2]),
            "scope": str(scope),
            "contact": contact_for(scope),
            "scope_type": type(scope).__name__.lower(),
            "scope_id": str(scope.pk),
        },
    )


def at_platform(user: Actor, permission: str) -> bool:
    """Whether the user holds the permission on the whole organisation."""
    if not _signed_in(user):
        return False
    by_user, by_group = _held(_known(user), Team, permission, "pk")
    root = {"content_object__parent": None}
    return by_user.filter(**root).union(by_group.filter(**root)).exists()


def require_platform(user: Actor, permission: str) -> None:
    """Raise Denied unless the user holds the permission on the organisation."""
    root = Team.objects.filter(parent__isnull=True).first()
    if root is None or not _signed_in(user):
        raise NotFound("no organisation")
    require(user, permission, root)


def permissions_anywhere(user: Actor) -> frozenset[Role]:
    """Roles the user holds in any scope, directly or by a group: decides which pages the navigation offers."""
    if not _signed_in(user):
        return frozenset()
    known = _known(user)
    rows = Membership.objects.filter(Q(user=known) | Q(group__in=known.groups.all())).order_by()
    return frozenset(Role(value) for value in rows.values_list("role", flat=True).distinct())


def kind_of_scope(scope: Model) -> Scope:
    """Organisation, team, project or pool: decides which roles may be held there."""
    if isinstance(scope, Project):
        return Scope.PROJECT
    if isinstance(scope, Team):
        return Scope.TEAM if scope.parent_id else Scope.ORGANISATION
    return Scope.POOL


def powers_at(user: Actor, scope: Model) -> frozenset[str]:
    """Permissions the user's roles give here: those held in the scope, in a team above it, or by a group.

    A pool stands below the whole organisation.
    """
    if not _signed_in(user):
        return frozenset()
    known = _known(user)
    if isinstance(scope, Team | Project):
        team = scope.team if isinstance(scope, Project) else scope
        here = Q(team__path__in=_ancestors(team))
        here |= Q(project=scope.pk) if isinstance(scope, Project) else Q()
    else:
        here = Q(team__parent__isnull=True, team__isnull=False) | Q(pool_key=getattr(scope, "key", None) or "-")
    rows = Membership.objects.filter(here, Q(user=known) | Q(group__in=known.groups.all())).order_by()
    return frozenset().union(*(GRANTS[Role(value)] for value in rows.values_list("role", flat=True)))


def require_role_power(user: Actor, role: Role, scope: Model) -> None:
    """Raise Denied when the role reaches further here than the user: nobody gives or takes more than they hold."""
    if GRANTS[role] <= powers_at(user, scope):
        return
    raise Denied(
        "RoleAboveOwn",
        _("Role {role} in {scope} reaches further than your own. Request it from {contact}."),
        facts={
            "role": str(ROLE_WORDS[role]),
            "scope": str(scope),
            "contact": contact_for(scope),
            "scope_type": type(scope).__name__.lower(),
            "scope_id": str(scope.pk),
        },
    )


def scope_of(target: Model) -> Model:
    """The team, project or pool whose permissions hold for this object."""
    via = getattr(target, "access_via", "")
    current: Any = target
    for step in via.split("__") if via else ():
        current = getattr(current, step)
    return current  # type: ignore[no-any-return]


def contact_for(scope: Model) -> str:
    """Who can grant a role here: the scope's contact, else the names of its owners or leads."""
    contact = getattr(scope, "contact", "") or getattr(scope, "maintainer", "")
    if contact:
        return str(contact)
    team = scope.team if isinstance(scope, Project) else scope if isinstance(scope, Team) else None
    paths = _ancestors(team) if team else []
    rows = Membership.objects.filter(
        Q(project=scope if isinstance(scope, Project) else None, role=Role.OWNER)
        | Q(team__path__in=paths, role__in=[Role.LEAD, Role.PLATFORM_ADMIN]),
        user__is_active=True,
    ).select_related("user")
    return listed(sorted({str(row.user) for row in rows})[:3])


def write_role(membership: Membership, scope: Model) -> None:
    """Derive guardian's rows from a membership. Idempotent; called by the services that write memberships."""
    rows, holder = _rows_of(membership, scope)
    wanted = _stored(scope, GRANTS[Role(membership.role)])
    rows.bulk_create(
        [rows.model(**holder, permission=permission, content_object=scope) for permission in wanted],
        ignore_conflicts=True,
    )


def erase_role(membership: Membership, scope: Model, remaining: set[Role]) -> None:
    """Take back what the role gave, except what the holder's remaining roles in this scope still give."""
    rows, holder = _rows_of(membership, scope)
    kept: set[str] = set().union(*(GRANTS[role] for role in remaining))
    gone = {codename(permission) for permission in GRANTS[Role(membership.role)] - kept}
    rows.filter(**holder, content_object=scope, permission__codename__in=gone).delete()


def _rows_of(membership: Membership, scope: Model) -> tuple[Manager[Any], dict[str, Any]]:
    """Where guardian keeps what this holder may do with such a scope, and the column that names the holder."""
    of_users, of_groups = _tables(type(scope))
    if membership.user:
        return of_users, {"user": membership.user}
    return of_groups, {"group": membership.group}


def _stored(scope: Model, permissions: Collection[str]) -> list[Permission]:
    """Django's rows of these permissions for the scope's class. A missing one is an error: the role would be less."""
    kind = ContentType.objects.get_for_model(scope)
    found = list(Permission.objects.filter(content_type=kind, codename__in=map(codename, permissions)))
    if len(found) != len(permissions):
        raise Permission.DoesNotExist(f"{type(scope).__name__} lacks some of {sorted(permissions)}; run migrate")
    return found


def _ancestors(team: Team) -> list[str]:
    """Paths of the team and every team above it."""
    keys = team.path.rstrip(".").split(".")
    return [".".join(keys[: depth + 1]) + "." for depth in range(len(keys))]


def _kind_of(model: type[Model], permission: str) -> str:
    """What kind of permission lets one see this model: a job is seen by job.see, whatever is asked."""
    return getattr(
        model,
        "access_kind",
        permission.partition(".")[0] if model not in (Project, Team) else model.__name__.lower(),
    )


def _signed_in(user: Actor) -> bool:
    return bool(user.is_authenticated and user.is_active)


def _known(user: Actor) -> User:
    assert isinstance(user, User)
    return user
