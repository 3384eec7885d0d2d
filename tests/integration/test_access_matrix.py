"""Every route × every role × {own, another team's}: what each may do, written by hand.

Nothing here is computed from the permission table. A route without a row fails.
`+` answered (2xx, a redirect onward, or 422 for an empty form) · `3` 403 seen but not allowed ·
`4` 404 not to be seen · `L` sent to sign in · `1` 401 · `9` 409 allowed, but something stands against it ·
`5` 503 allowed, but a cluster does not answer.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from jobs.models import Artifact, Attempt, Job, TemplateVersion
from jobs.services.copy_template import copy_template
from jobs.services.publish_shipped_templates import publish_shipped_templates
from tenants.models import Grant, Membership, Project, Team, User
from tenants.services.grant_pool import grant_pool
from tests import builders as make
from tests import declared
from tests.cast import cast_rows
from tests.integration.access_bodies import BODIES
from tests.integration.access_rows import ANONYMOUS_MAY, ROLES, TABLE

__all__ = ["cast_rows"]


def routes() -> set[str]:
    """Names of every route the portal serves."""
    found: set[str] = set()

    def walk(patterns: list[URLPattern | URLResolver]) -> None:
        for entry in patterns:
            if isinstance(entry, URLResolver):
                walk(entry.url_patterns)
            else:
                assert entry.name, f"{entry.pattern} has no name"
                found.add(entry.name)

    walk(get_resolver().url_patterns)
    return found


@dataclass
class Objects:
    """What the routes are called with, on one side of the fence."""

    project: uuid.UUID
    job: uuid.UUID
    file: uuid.UUID
    node: uuid.UUID
    pool: str
    tenants: dict[str, dict[str, object]]


def tenants_of(team: Team, project: Project, person: User, pool: str) -> dict[str, dict[str, object]]:
    """Arguments of the routes of teams, projects and people on one side, by route."""
    member = Membership.objects.get(user=person, project=project)
    grant = Grant.objects.filter(project=project).first() or grant_pool(
        actor=None, tenant=project, pool_key=pool, valid_from=make.NOW, now=make.NOW
    )
    cell = make.set_cell(project, pool, "cpu", "cpu", nominal=1_000, ceiling=None)
    groups: list[tuple[dict[str, object], tuple[str, ...]]] = [
        (
            {"slug": team.slug},
            ("team_detail", "team_new", "team_edit", "team_delete", "team_member_new", "project_new"),
        ),
        ({"slug": project.slug}, ("project_detail", "project_edit", "project_archive", "project_restore")),
        ({"slug": project.slug}, ("project_member_new",)),
        ({"key": member.pk}, ("member_edit", "member_remove")),
        ({"kind": "projects", "slug": project.slug}, ("grant_new", "quota_new")),
        ({"key": grant.pk}, ("grant_edit", "grant_end")),
        ({"key": cell.pk}, ("quota_edit", "quota_delete")),
        ({"key": uuid.uuid4()}, ("token_delete",)),
        ({"key": team.pk}, with_previews("api_team", "api_team_members")),
        ({"key": make.make_team(f"spare-{team.slug}", team).pk}, with_previews("api_team_delete")),
        ({"key": project.pk}, with_previews("api_project_archive", "api_project_restore", "api_project_members")),
        ({"key": project.pk}, ("api_project_preview",)),
        ({"key": member.pk}, with_previews("api_member", "api_member_remove")),
        ({"key": grant.pk}, with_previews("api_grant", "api_grant_end")),
        ({"key": cell.pk}, with_previews("api_quota_delete")),
        ({"key": person.pk}, with_previews("api_person_active", "api_person_password")),
        ({"key": person.pk}, ("person_detail", "person_block", "person_unblock", "person_password")),
    ]
    return {route: arguments for arguments, routes_of in groups for route in routes_of}


def with_previews(*names: str) -> tuple[str, ...]:
    """These routes, and those that only try what they do."""
    return (*names, *(f"{name}_preview" for name in names))


def templates_of(project: Project, source: TemplateVersion) -> dict[str, dict[str, object]]:
    """Arguments of the routes of a template of the project, by route."""
    slug = f"template-of-{project.slug}"
    copy_template(actor=None, source=source, project=project, slug=slug, title=f"Of {project.slug}", now=make.NOW)
    acts = ("versions", "copy", "edit", "retire", "restore")
    return {f"{face}template_{act}": {"slug": slug} for face in ("", "api_") for act in acts}


@pytest.fixture(scope="module")
def sides(cast_rows, django_db_blocker, tmp_path_factory) -> Iterator[dict[str, Objects]]:
    """Made once, in the cast's transaction: every request is rolled back to this."""
    state = tmp_path_factory.mktemp("state")
    with django_db_blocker.unblock(), override_settings(STATE_DIR=state):
        yield both_sides(cast_rows, state)


def both_sides(cast, state: Path) -> dict[str, Objects]:
    publish_shipped_templates(now=make.NOW)
    far = make.make_node("n2", cast.cluster, cast.other)
    make.make_kubernetes("far", server="https://127.0.0.1:9")
    version = TemplateVersion.objects.get(template__slug="run-operation")
    own = make.make_job(cast.alpha, cast.member, name="Job of alpha", state="RUNNING", template_version=version)
    other = make.make_job(cast.beta, cast.outsider, name="Job of beta", state="RUNNING", template_version=version)
    for job, node in ((own, cast.node), (other, far)):
        held = make.make_allocation(job, node, reserved=make.NOW, bound=make.NOW, started=make.NOW)
        placement = [{"index": 0, "node": node.name, "cpu": 1_000, "memory": 0}]
        Attempt.objects.filter(pk=held.attempt_id).update(placement=placement)
    return {
        "own": Objects(
            cast.alpha.pk,
            own.pk,
            a_file(own, state),
            cast.node.pk,
            "shared",
            tenants_of(cast.models, cast.alpha, cast.member, "shared")
            | templates_of(cast.alpha, version)
            | declared.arguments(cast.cpu, cast.memory, "shared"),
        ),
        "other": Objects(
            cast.beta.pk,
            other.pk,
            a_file(other, state),
            far.pk,
            "other",
            tenants_of(cast.vision, cast.beta, cast.outsider, "other")
            | templates_of(cast.beta, version)
            | declared.arguments(cast.cpu, cast.memory, "other"),
        ),
    }


@pytest.fixture(scope="module")
def as_role(cast_rows, django_db_blocker) -> Callable[[str], Client]:
    """Gives a new client of that role, with the cookies of a sign-in that is done once a role."""
    cookies = {"anonymous": SimpleCookie()}
    with django_db_blocker.unblock():
        for role in ROLES:
            if role != "anonymous":
                client = Client()
                client.force_login(cast_rows.person(role))
                cookies[role] = client.cookies

    def signed_in(role: str) -> Client:
        client = Client()
        client.cookies = deepcopy(cookies[role])
        return client

    return signed_in


def a_file(job: Job, state: Path) -> uuid.UUID:
    """A kept result of the job."""
    path = state / "data" / job.id.hex / "result.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    row = Artifact(project=job.project, job=job, attempt=job.attempts.get(), name="result", kind="result")
    row.location, row.bytes, row.sha256, row.created_at = str(path), 2, "0" * 64, make.NOW
    row.save()
    return row.pk


def call(client: Client, route: str, method: str, objects: Objects) -> str:
    arguments = {
        "template_detail": {"slug": "run-operation"},
        "api_template": {"slug": "run-operation"},
        "job_new": {"slug": "run-operation"},
        "job_preview": {"slug": "run-operation"},
        "node_detail": {"key": objects.node},
        "api_node": {"key": objects.node},
        "pool_detail": {"key": objects.pool},
        "pool_edit": {"key": objects.pool},
        "pool_delete": {"key": objects.pool},
        **{
            f"node_{act}": {"key": objects.node}
            for act in ("cordon", "drain", "retire", "release", "validate", "admit")
        },
        **{f"{face}pool_admission": {"key": objects.pool} for face in ("", "api_")},
        "api_pool_admission_preview": {"key": objects.pool},
        **{name: {"key": objects.node} for name in with_previews("api_node_admission", "api_node_validation")},
        **{f"cluster_{act}": {"key": "site"} for act in ("detail", "edit", "attach", "pause", "detach")},
        "cluster_register": {"driver": "simulated"},
        **{name: {"key": "far"} for name in ("cluster_access", "permission_review")},
        **{f"api_cluster_{name}": {"key": "far"} for name in ("access", "review")},
        **{f"credential_{act}": {"key": "far", "right": "runner"} for act in ("rotate", "remove")},
        "api_cluster_credential": {"key": "far", "right": "runner"},
        **{name: {"right": "runner"} for name in ("role_manifest", "api_cluster_role")},
        **{name: {"key": "cpu"} for name in ("class_detail", "class_edit", "class_retire", "rate_publish")},
        **{name: {"key": objects.pool} for name in ("api_pool", "api_pool_preview")},
        **{name: {"key": objects.node} for name in with_previews("api_node_stage")},
        **{name: {"key": "site"} for name in ("api_cluster", "api_cluster_state")},
        **{f"api_{name}": {"key": "cpu"} for name in ("class", "class_preview", "class_retire")},
        **{f"api_{name}": {"key": "cpu"} for name in ("rates", "rate_preview")},
        "service_token": {"key": objects.project},
        "api_service_token": {"key": objects.project},
        "api_project": {"key": objects.project},
        "api_token": {"key": uuid.uuid4()},
        "notice_read": {"key": uuid.uuid4()},
        "api_notice_read": {"key": uuid.uuid4()},
        "job_file": {"key": objects.job, "artifact": objects.file},
        "api_job_file": {"key": objects.job, "artifact": objects.file},
    }.get(route, {"key": objects.job} if "job_" in route or route == "api_job" else {})
    arguments = objects.tenants.get(route, arguments)
    if route in ("job_list", "api_jobs", "api_job_preview"):
        arguments = {}
    path = reverse(route, kwargs=arguments)
    body: dict[str, object] = {"project": str(objects.project)}
    if method == "GET":
        answer = client.get(path, body if route == "job_new" else {})
    elif method == "DELETE" and route.startswith("api_") and (route, method) not in BODIES and route != "api_token":
        answer = client.delete(f"{path}?reason=Why")
    elif (route, method) in BODIES:
        named = {"<team>": objects.tenants["api_team"]["key"], "<project>": objects.project}
        sent = {n: str(named[v]) if isinstance(v, str) and v in named else v for n, v in BODIES[route, method].items()}
        answer = client.generic(method, path, data=json_of(sent), content_type="application/json")
    elif route.startswith("api_"):
        sent = {
            "api_jobs": {**body, "template": "run-operation"},
            "api_job_preview": {**body, "template": "run-operation"},
            "api_template_copy": {**body, "slug": "a-copy", "title": "A copy"},
            "api_template_versions": {"base": 1, "title": {"en": "Another title"}},
        }.get(route, {})
        answer = client.generic(method, path, data=json_of(sent), content_type="application/json")
    else:
        answer = client.post(path, body)
    code = sign(answer)
    if answer.streaming:
        # `answer.close()` would also end the test's own transaction.
        for closer in answer._resource_closers:
            closer()
    return code


def json_of(body: dict[str, object]) -> str:
    return json.dumps(body)


def sign(answer) -> str:
    if answer.status_code == 302 and "/login" in answer["Location"] and "next=" in answer["Location"]:
        return "L"
    if answer.status_code < 400 or answer.status_code == 422:
        return "+"
    return {401: "1", 403: "3", 404: "4", 409: "9", 503: "5"}.get(answer.status_code, str(answer.status_code))


def test_every_route_has_a_row_and_every_row_a_route():
    assert {route for route, _ in TABLE} == routes()


def test_what_the_anonymous_may_reach_is_a_short_list():
    reached = {route for (route, _), (own, _other) in TABLE.items() if own[9] == "+"}
    assert reached == ANONYMOUS_MAY and len(reached) <= 8


@pytest.mark.parametrize(("route", "method"), list(TABLE), ids=str)
def test_access_matrix(route, method, db, sides, as_role):
    wanted = dict(zip(("own", "other"), TABLE[route, method], strict=True))
    got = {"own": "", "other": ""}
    for side, row in wanted.items():
        for role in ROLES if row else ():
            with transaction.atomic():
                got[side] += call(as_role(role), route, method, sides[side])
                transaction.set_rollback(True)
    assert got == wanted


@pytest.mark.parametrize("route", ["home", "job_list", "service_list", "my_usage", "usage_by_project", "api_jobs"])
def test_no_list_names_what_its_reader_may_not_see(route, db, sides, as_role):
    for role in ("pool_admin", "lead", "owner", "member", "viewer", "stranger"):
        assert "beta" not in as_role(role).get(reverse(route)).content.decode().lower(), role
