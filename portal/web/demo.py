"""The demo installation: a small organisation, this machine as a cluster, and a cast of people.

Idempotent: what is there is left alone. Passwords are random per installation and kept in the state folder,
readable by its owner only.
"""

import json
import os
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Model

from jobs.services.publish_shipped_templates import publish_shipped_templates
from portal.lib.partitions import ensure_partitions
from resources.models import RateVersion, ResourceClass
from resources.models.catalogue import Kind
from resources.services.create_pool import create_pool
from resources.services.declare_runtime import declare_runtime
from resources.services.define_class import define_class
from resources.services.publish_rate import publish_rate
from resources.services.register_cluster import register_cluster
from tenants.models import Project, Team, User
from tenants.roles import Role
from tenants.services.create_project import create_project
from tenants.services.create_team import create_team
from tenants.services.grant_pool import grant_pool
from tenants.services.grant_role import grant_role
from tenants.services.set_quota import set_quota

LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Person:
    """One of the cast: user name, display name, role, and the slug of the scope it is held in."""

    username: str
    name: str
    role: Role
    scope: str


CAST = (
    Person("admin", "Mira Okafor", Role.PLATFORM_ADMIN, "organisation"),
    Person("auditor", "Ana Ruiz", Role.AUDITOR, "organisation"),
    Person("manager", "Tomas Berg", Role.MANAGER, "organisation"),
    Person("lead", "Lin Chen", Role.LEAD, "models"),
    Person("owner", "Jun Sato", Role.OWNER, "inspection"),
    Person("researcher", "Wei Xia", Role.MEMBER, "inspection"),
    Person("viewer", "Noor Haddad", Role.VIEWER, "inspection"),
)


def seed_demo(*, now: datetime, accounts: Path) -> list[dict[str, str]]:
    """The demo accounts [{username, name, role, password}], made on the first call and read back later."""
    ensure_partitions(now)
    with transaction.atomic():
        scopes = _tenants(now)
        _resources(now)
        _rules(scopes, now)
        publish_shipped_templates(now=now)
    return _people(scopes, now, accounts)


def _tenants(now: datetime) -> dict[str, Model]:
    root = _team("organisation", "Meridian Research", None, now)
    models = _team("models", "Foundation models", root, now)
    vision = _team("vision", "Vision lab", root, now)
    return {
        "organisation": root,
        "models": models,
        "vision": vision,
        "inspection": _project("inspection", "Grid inspection", models, now),
        "corpus": _project("corpus", "Open corpus", models, now),
        "imaging": _project("imaging", "Medical imaging", vision, now),
    }


def _team(slug: str, name: str, parent: Team | None, now: datetime) -> Team:
    found = Team.objects.filter(slug=slug).first()
    return found or create_team(actor=None, name=name, slug=slug, parent=parent, now=now)


def _project(slug: str, name: str, team: Team, now: datetime) -> Project:
    found = Project.objects.filter(slug=slug).first()
    return found or create_project(actor=None, name=name, slug=slug, team=team, now=now)


def _resources(now: datetime) -> None:
    register_cluster(actor=None, key=LOCAL, name="This machine", driver=LOCAL, now=now, maintainer="Mira Okafor")
    create_pool(
        actor=None,
        key=LOCAL,
        name={"en": "This machine", "zh-hans": "本机"},
        selector={"cluster": LOCAL},
        now=now,
        maintainer="Mira Okafor",
    )
    cpu = define_class(actor=None, key="cpu", name={"en": "CPU", "zh-hans": "CPU"}, kind=Kind.CPU, now=now)
    memory = define_class(actor=None, key="memory", name={"en": "Memory", "zh-hans": "内存"}, kind=Kind.MEMORY, now=now)
    _rate(cpu, 1_000_000, 1_000_000, now)
    _rate(memory, 100_000, 50_000, now)
    declare_runtime(
        actor=None,
        key="python-local",
        name={"en": "Python with numpy, on this machine", "zh-hans": "本机 Python（numpy）"},
        driver_kind=LOCAL,
        kinds=[Kind.CPU],
        framework="numpy",
        version="2.4",
        now=now,
    )


def _rate(row: ResourceClass, price: int, weight: int, now: datetime) -> None:
    if not RateVersion.objects.filter(class_key=row.key).exists():
        start = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        publish_rate(actor=None, resource_class=row, price_micro=price, weight_micro=weight, valid_from=start, now=now)


def _rules(scopes: dict[str, Model], now: datetime) -> None:
    root, vision = scopes["organisation"], scopes["vision"]
    assert isinstance(root, Team) and isinstance(vision, Team)
    if not root.grants.filter(pool_key=LOCAL).exists():
        grant_pool(actor=None, tenant=root, pool_key=LOCAL, valid_from=now, now=now)
    if not vision.quota_cells.exists():
        set_quota(
            actor=None,
            tenant=vision,
            pool_key=LOCAL,
            class_key="cpu",
            resource="cpu",
            guarantee=0,
            nominal=1_000,
            ceiling=1_000,
            now=now,
        )


def _people(scopes: dict[str, Model], now: datetime, accounts: Path) -> list[dict[str, str]]:
    known = _read(accounts)
    rows = []
    for person in CAST:
        password = known.get(person.username) or secrets.token_urlsafe(9)
        user = User.objects.filter(username=person.username).first()
        if user is None:
            user = User.objects.create_user(person.username, password=password, display_name=person.name)
        elif person.username not in known:
            # The file was lost: a new password is the only way back in.
            user.set_password(password)
            user.save(update_fields=["password"])
        grant_role(actor=None, user=user, role=person.role, scope=scopes[person.scope], now=now)
        rows.append({"username": person.username, "name": person.name, "role": person.role, "password": password})
    _write(accounts, rows)
    return rows


def _read(path: Path) -> dict[str, str]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {row["username"]: row["password"] for row in rows}


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(rows, file, ensure_ascii=False, indent=1)
    part.rename(path)


def accounts_file() -> Path:
    """Where the demo accounts are kept."""
    return Path(settings.STATE_DIR) / "demo-accounts.json"
