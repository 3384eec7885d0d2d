"""What people typed for a pilot, checked; and what of the pilot is there already."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from jobs.models import JobTemplate
from portal.lib.errors import FieldError, Invalid
from portal.lib.text import BadInput, clean_name, name_key
from portal.web.pilot.plan import TEMPLATES, Facts, Pilot, twice
from resources.models import Cluster, Pool, ResourceClass, Runtime
from tenants.models import Grant, Membership, Project, Team, User

MOST_PEOPLE = 50
CLASSES = ("cpu", "memory")
_BETWEEN = re.compile(r"[\s,;，、；]+")
NOBODY = _("There is no active user {name}. Write user names exactly; make the account first.")
SAME = _("{name} is given twice. The two projects need different names.")
TOO_MANY = _("{count} people are too many for a pilot; at most {most} a project.")
NO_OWNER = _("Name at least one person: the first is the project's owner.")


def read_pilot(given: Mapping[str, Any]) -> Pilot:
    """The pilot of {team, project_1, project_2, lead, people_1, people_2}. Raises Invalid naming each bad field."""
    errors: list[FieldError] = []
    names = {field: _name(field, given.get(field, ""), errors) for field in ("team", "project_1", "project_2")}
    if not errors and twice([names["project_1"], names["project_2"]]):
        errors.append(FieldError("project_2", "SameName", SAME, {"name": names["project_2"]}))
    people = [_people(f"people_{n}", given.get(f"people_{n}", ""), errors) for n in (1, 2)]
    lead = _people("lead", given.get("lead", ""), errors, required=False)[:1]
    if errors:
        raise Invalid.of(*errors)
    return Pilot(
        team=names["team"],
        projects=(names["project_1"], names["project_2"]),
        lead=lead[0] if lead else "",
        people=(people[0], people[1]),
    )


def facts_for(pilot: Pilot, now: datetime) -> Facts:
    """What is there now. Nine queries."""
    cluster = _cluster()
    pool = _pool(cluster)
    team = next(
        (t for t in Team.objects.filter(parent__isnull=False) if name_key(t.name) == name_key(pilot.team)), None
    )
    projects = list(Project.objects.filter(team=team, archived_at__isnull=True)) if team else []
    return Facts(
        cluster=cluster.key if cluster else "",
        runtime=_runtime(),
        pool=pool.key if pool else "",
        team=team.slug if team else "",
        projects={name_key(p.name): p.slug for p in projects},
        granted=bool(pool and _granted(team or _root(), pool, now)),
        templates=frozenset(
            JobTemplate.objects.filter(slug__in=TEMPLATES, retired_at__isnull=True, versions__isnull=False).values_list(
                "slug", flat=True
            )
        ),
        roles=_roles(team, projects),
        slugs=frozenset(
            [*Team.objects.values_list("slug", flat=True), *Project.objects.values_list("slug", flat=True)]
        ),
    )


def _name(field: str, value: object, errors: list[FieldError]) -> str:
    try:
        return clean_name(value)
    except BadInput as bad:
        errors.append(FieldError(field, bad.reason, _(bad.template), bad.facts))
        return ""


def _people(field: str, value: object, errors: list[FieldError], *, required: bool = True) -> tuple[str, ...]:
    """User names as written, separated by spaces, commas or lines, each once; every one an active account."""
    parts: Sequence[Any] = value if isinstance(value, list | tuple) else _BETWEEN.split(str(value))
    names = list(dict.fromkeys(str(part) for part in parts if part))
    if required and not names:
        errors.append(FieldError(field, "NoOwner", NO_OWNER, {}))
    if len(names) > MOST_PEOPLE:
        errors.append(FieldError(field, "TooMany", TOO_MANY, {"count": len(names), "most": MOST_PEOPLE}))
        return ()
    asked = [name for name in names if "\0" not in name]
    known = set(User.objects.filter(username__in=asked, is_active=True).values_list("username", flat=True))
    for name in names:
        if name not in known:
            errors.append(FieldError(field, "NoSuchUser", NOBODY, {"name": name.replace("\0", "")[:80]}))
            break
    return tuple(names)


def _cluster() -> Cluster | None:
    """A real cluster that is attached; the oldest, so that asking twice gives the same."""
    attached = Cluster.objects.filter(state=Cluster.State.ATTACHED, simulated=False).exclude(driver="simulated")
    return attached.order_by("created_at", "key").first()


def _pool(cluster: Cluster | None) -> Pool | None:
    """The pool that holds the cluster's nodes, or will: by its nodes, else by its selector."""
    if cluster is None:
        return None
    return Pool.objects.filter(Q(nodes__cluster=cluster) | Q(selector__cluster=cluster.key)).order_by("key").first()


def _root() -> Team | None:
    return Team.objects.filter(parent__isnull=True).first()


def _runtime() -> bool:
    both = ResourceClass.objects.filter(key__in=CLASSES).count() == len(CLASSES)
    return both and Runtime.objects.filter(driver_kind="local").exists()


def _granted(team: Team | None, pool: Pool, now: datetime) -> bool:
    """The team, or the organisation where the team is still to be made, may use the pool now."""
    above = [UUID(key) for key in (team.path if team else "").rstrip(".").split(".") if key]
    grants = Grant.objects.filter(team__in=above, pool_key=pool.key, valid_from__lte=now)
    return grants.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=now)).exists()


def _roles(team: Team | None, projects: Sequence[Project]) -> frozenset[tuple[str, str, str]]:
    if team is None:
        return frozenset()
    rows = Membership.objects.filter(Q(team=team) | Q(project__in=projects), user__isnull=False)
    found = rows.values_list("user__username", "role", "team__name", "project__name")
    return frozenset((user, role, name_key(project or name)) for user, role, name, project in found)
