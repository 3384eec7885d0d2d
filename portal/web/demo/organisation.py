"""A small organisation: three teams, six projects, and what they may use of this machine."""

from datetime import datetime

from django.db.models import Model

from portal.web.demo.machine import LOCAL
from tenants.models import Project, Team
from tenants.services.create_project import create_project
from tenants.services.create_team import create_team
from tenants.services.grant_pool import grant_pool
from tenants.services.set_quota import set_quota

ROOT = "organisation"
TEAMS = {"models": "Foundation models", "vision": "Vision lab", "systems": "Applied systems"}
PROJECTS = {
    "inspection": ("Grid inspection", "models"),
    "corpus": ("Open corpus", "models"),
    "imaging": ("Medical imaging", "vision"),
    "mapping": ("Terrain mapping", "vision"),
    "forecasting": ("Load forecasting", "systems"),
    "assistant": ("Operator assistant", "systems"),
}


def seed_root(now: datetime) -> dict[str, Model]:
    """The organisation alone."""
    return {ROOT: _team(ROOT, "Meridian Research", None, now)}


def seed_tree(now: datetime) -> dict[str, Model]:
    """Teams and projects by their slugs, and the organisation."""
    scopes = seed_root(now)
    root = scopes[ROOT]
    assert isinstance(root, Team)
    teams = {slug: _team(slug, name, root, now) for slug, name in TEAMS.items()}
    projects = {slug: _project(slug, name, teams[team], now) for slug, (name, team) in PROJECTS.items()}
    return {**scopes, **teams, **projects}


def seed_machine_rules(scopes: dict[str, Model], now: datetime) -> None:
    """All may use this machine; the vision lab only one core of it at a time."""
    root, vision = scopes[ROOT], scopes["vision"]
    assert isinstance(root, Team) and isinstance(vision, Team)
    if not root.grants.filter(pool_key=LOCAL).exists():
        grant_pool(actor=None, tenant=root, pool_key=LOCAL, valid_from=now, now=now)
    if not vision.quota_cells.filter(pool_key=LOCAL).exists():
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


def _team(slug: str, name: str, parent: Team | None, now: datetime) -> Team:
    found = Team.objects.filter(slug=slug).first()
    return found or create_team(actor=None, name=name, slug=slug, parent=parent, now=now)


def _project(slug: str, name: str, team: Team, now: datetime) -> Project:
    found = Project.objects.filter(slug=slug).first()
    return found or create_project(actor=None, name=name, slug=slug, team=team, now=now)
