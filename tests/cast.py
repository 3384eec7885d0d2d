"""The cast: a small organisation with one person for every role, and one who has none.

    organisation ─┬─ models ─── alpha   (lead, owner, member, viewer; team auditor on models)
                  └─ vision ─── beta    (outsider is a member there)

Pool `shared` with node `n1` is granted to alpha; pool `other` to nobody.
Made once a module (it takes most of a second) and rolled back after it; each test gets copies of its own and
its own savepoint. A conftest imports both fixtures: `from tests.cast import cast, cast_rows`.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker

from resources.models import Cluster, Node, Pool, ResourceClass
from resources.models.catalogue import Kind
from tenants.models import Project, Team, User
from tenants.roles import Role
from tenants.services.grant_pool import grant_pool
from tests import builders as make

ROLES = (
    "platform_admin",
    "pool_admin",
    "auditor",
    "manager",
    "lead",
    "owner",
    "member",
    "viewer",
    "stranger",
)


@dataclass(slots=True)
class Cast:
    """People by role, scopes by name, and the little fleet they share."""

    organisation: Team
    models: Team
    vision: Team
    alpha: Project
    beta: Project
    shared: Pool
    other: Pool
    cluster: Cluster
    node: Node
    cpu: ResourceClass
    memory: ResourceClass
    platform_admin: User
    pool_admin: User
    auditor: User
    team_auditor: User
    manager: User
    lead: User
    owner: User
    member: User
    viewer: User
    outsider: User
    stranger: User

    def person(self, role: str) -> User:
        """The one who holds that role."""
        user: User = getattr(self, role)
        return user


@pytest.fixture(scope="module")
def cast_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Cast]:
    """The rows of the whole module; tests take `cast`."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_cast()
        transaction.set_rollback(True)


@pytest.fixture
def cast(cast_rows: Cast, db: None) -> Cast:
    """The organisation, its people and its fleet; what a test changes ends with it."""
    return deepcopy(cast_rows)


def make_cast() -> Cast:
    """The same in the caller's transaction."""
    root = make.make_team("organisation", contact="Mira Okafor")
    models, vision = make.make_team("models", root), make.make_team("vision", root)
    alpha, beta = make.make_project("alpha", models), make.make_project("beta", vision)
    shared, other = make.make_pool("shared", maintainer="Rosa Adeyemi"), make.make_pool("other")
    cluster = make.make_cluster()
    grant_pool(actor=None, tenant=alpha, pool_key=shared.key, now=make.NOW, valid_from=make.ago(days=90))
    return Cast(
        organisation=root,
        models=models,
        vision=vision,
        alpha=alpha,
        beta=beta,
        shared=shared,
        other=other,
        cluster=cluster,
        node=make.make_node("n1", cluster, shared),
        cpu=make.make_class("cpu", Kind.CPU, price=1_000_000, weight=1_000_000),
        memory=make.make_class("memory", Kind.MEMORY, price=100_000, weight=50_000),
        platform_admin=make.make_user("admin", (Role.PLATFORM_ADMIN, root)),
        pool_admin=make.make_user("pooler", (Role.POOL_ADMIN, shared)),
        auditor=make.make_user("auditor", (Role.AUDITOR, root)),
        team_auditor=make.make_user("teamauditor", (Role.AUDITOR, models)),
        manager=make.make_user("manager", (Role.MANAGER, root)),
        lead=make.make_user("lead", (Role.LEAD, models)),
        owner=make.make_user("owner", (Role.OWNER, alpha)),
        member=make.make_user("member", (Role.MEMBER, alpha)),
        viewer=make.make_user("viewer", (Role.VIEWER, alpha)),
        outsider=make.make_user("outsider", (Role.MEMBER, beta)),
        stranger=make.make_user("stranger"),
    )
