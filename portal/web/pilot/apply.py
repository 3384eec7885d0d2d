"""Make a pilot by the services of the apps below; what is there is left alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.services.publish_shipped_templates import publish_shipped_templates
from portal.lib.errors import NotFound
from portal.lib.locks import hold_until_commit
from portal.lib.queue import enqueue
from portal.web.pilot.plan import Pilot, Step, plan
from portal.web.pilot.read import CLASSES, facts_for, read_pilot
from resources.models import Pool, ResourceClass
from resources.models.catalogue import Kind
from resources.services.create_pool import create_pool
from resources.services.declare_runtime import declare_runtime
from resources.services.define_class import define_class
from resources.services.register_cluster import register_cluster
from tenants import access
from tenants.models import Project, Team, User
from tenants.roles import Role
from tenants.services.create_project import create_project
from tenants.services.create_team import create_team
from tenants.services.grant_pool import grant_pool
from tenants.services.grant_role import grant_role
from tenants.services.record_audit import record_audit

LOCK = "portal.pilot"


@dataclass(frozen=True, slots=True)
class Applied:
    """The steps as they were found, and how many of them were taken now."""

    steps: list[Step]
    made: int


def planned(given: Mapping[str, Any], now: datetime) -> tuple[Pilot, list[Step]]:
    """The pilot of what was typed and its steps. Writes nothing. Raises Invalid naming each bad field."""
    pilot = read_pilot(given)
    return pilot, plan(pilot, facts_for(pilot, now))


def hold_pilots() -> None:
    """One pilot at a time, until the transaction ends."""
    hold_until_commit(LOCK)


@transaction.atomic
def apply_pilot(*, actor: User | None, given: Mapping[str, Any], now: datetime, note: str = "") -> Applied:
    """Every step taken that was not there. Applied again it makes nothing and records nothing.

    Needs `cluster.manage` on the organisation; without an actor (the installation) no permission is asked.
    Raises Invalid naming each bad field, NotFound without an organisation.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    hold_pilots()
    pilot, steps = planned(given, now)
    root = Team.objects.filter(parent__isnull=True).first()
    if root is None:
        raise NotFound("no organisation")
    keys: dict[str, str] = {step.kind: step.key for step in steps if step.kind != "project"}
    projects = {step.name: step.key for step in steps if step.kind == "project"}
    work = _Work(actor, root, now, note, keys, projects)
    missing = [step for step in steps if not step.there]
    for step in missing:
        work.take(step)
    if missing:
        after = {
            "team": pilot.team,
            "projects": list(pilot.projects),
            "made": [f"{step.kind} {step.name}" for step in missing],
        }
        record_audit(actor=actor, verb="pilot.applied", target=root, after=after, note=note, now=now)
    return Applied(steps, len(missing))


@dataclass(frozen=True, slots=True)
class _Work:
    """Who does it, below which organisation, when and why; `keys` of cluster, pool and team, `projects` by name."""

    actor: User | None
    root: Team
    now: datetime
    note: str
    keys: Mapping[str, str]
    projects: Mapping[str, str]

    def take(self, step: Step) -> None:
        acts: Mapping[str, Callable[[Step], object]] = {
            "cluster": self._cluster,
            "runtime": self._runtime,
            "pool": self._pool,
            "team": self._team,
            "project": self._project,
            "template": self._templates,
            "grant": self._grant,
            "role": self._role,
        }
        acts[step.kind](step)

    @property
    def team(self) -> Team:
        return Team.objects.get(slug=self.keys["team"])

    def _cluster(self, step: Step) -> None:
        """This machine, looked at as soon as it is written down."""
        register_cluster(
            actor=self.actor, key=step.key, name="This machine", driver="local", now=self.now, note=self.note
        )
        enqueue("resources.sync_all")

    def _runtime(self, step: Step) -> None:
        """The classes and the runtime that the shipped templates ask for."""
        known = set(ResourceClass.objects.filter(key__in=CLASSES).values_list("key", flat=True))
        words = {"cpu": {"en": "CPU", "zh-hans": "CPU"}, "memory": {"en": "Memory", "zh-hans": "内存"}}
        for key, kind in (("cpu", Kind.CPU), ("memory", Kind.MEMORY)):
            if key not in known:
                define_class(actor=self.actor, key=key, name=words[key], kind=kind, now=self.now, note=self.note)
        declare_runtime(
            actor=self.actor,
            key=step.key,
            name={"en": "Python with numpy, on this machine", "zh-hans": "本机 Python（numpy）"},
            driver_kind="local",
            kinds=[Kind.CPU],
            framework="numpy",
            version="2.4",
            now=self.now,
        )

    def _pool(self, step: Step) -> Pool:
        return create_pool(
            actor=self.actor,
            key=step.key,
            name={"en": "Pilot", "zh-hans": "试点"},
            selector={"cluster": self.keys["cluster"]},
            now=self.now,
            note=self.note,
        )

    def _team(self, step: Step) -> None:
        create_team(actor=self.actor, name=step.name, slug=step.key, parent=self.root, now=self.now, note=self.note)

    def _project(self, step: Step) -> None:
        create_project(actor=self.actor, team=self.team, name=step.name, slug=step.key, now=self.now, note=self.note)

    def _templates(self, _step: Step) -> None:
        publish_shipped_templates(now=self.now)

    def _grant(self, _step: Step) -> None:
        grant_pool(
            actor=self.actor,
            tenant=self.team,
            pool_key=self.keys["pool"],
            valid_from=self.now,
            now=self.now,
            note=self.note,
        )

    def _role(self, step: Step) -> None:
        role = Role(step.role)
        scope = self.team if role is Role.LEAD else Project.objects.get(slug=self.projects[step.scope])
        user = User.objects.get(username=step.key)
        grant_role(actor=self.actor, user=user, role=role, scope=scope, now=self.now, note=self.note)
