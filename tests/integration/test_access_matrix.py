"""Every route × every role × {own, another team's}: what each may do, written by hand.

Nothing here is computed from the permission table. A route without a row fails.
`+` answered (2xx, a redirect onward, or 422 for an empty form) · `3` 403 seen but not allowed ·
`4` 404 not to be seen · `L` sent to sign in · `1` 401.
"""

import json
import uuid
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from jobs.models import Artifact, Attempt, Job, TemplateVersion
from jobs.services.publish_shipped_templates import publish_shipped_templates
from tests import builders as make
from tests.cast import cast, cast_rows

__all__ = ["cast", "cast_rows"]

# The columns, in this order.
ROLES = ["platform_admin", "pool_admin", "auditor", "manager", "lead", "owner", "member", "viewer", "stranger"]
ROLES.append("anonymous")

# (route, method): (own, another team's); "" where the route has no object.
PAGES: dict[tuple[str, str], tuple[str, str]] = {
    ("healthz", "GET"): ("++++++++++", ""),
    ("login", "GET"): ("++++++++++", ""),
    ("set_language", "POST"): ("++++++++++", ""),
    ("logout", "POST"): ("++++++++++", ""),
    ("home", "GET"): ("+++++++++L", ""),
    ("template_list", "GET"): ("+++++++++L", ""),
    ("template_detail", "GET"): ("+++++++++L", ""),
    ("job_new", "GET"): ("+433+++34L", "+43344444L"),
    ("job_new", "POST"): ("+433+++34L", "+43344444L"),
    ("job_preview", "POST"): ("+433+++34L", "+43344444L"),
    ("job_list", "GET"): ("+++++++++L", ""),
    ("service_list", "GET"): ("+++++++++L", ""),
    ("job_detail", "GET"): ("+4++++++4L", "+4++44444L"),
    ("job_status", "GET"): ("+4++++++4L", "+4++44444L"),
    ("job_stream", "GET"): ("+4++++++4L", "+4++44444L"),
    ("job_log", "GET"): ("+4++++++4L", "+4++44444L"),
    ("job_log_download", "GET"): ("+4++++++4L", "+4++44444L"),
    ("job_file", "GET"): ("+4++++++4L", "+4++44444L"),
    ("job_cancel", "POST"): ("+433+++34L", "+43344444L"),
    ("service_token", "POST"): ("+433++334L", "+43344444L"),
    ("my_usage", "GET"): ("+++++++++L", ""),
    ("usage_by_project", "GET"): ("+++++++++L", ""),
    ("job_usage", "GET"): ("+4++++++4L", "+4++44444L"),
    ("node_list", "GET"): ("++++33333L", ""),
    ("node_detail", "GET"): ("++++44444L", "+4++44444L"),
    ("pool_list", "GET"): ("+++++++++L", ""),
    ("pool_detail", "GET"): ("++++++++4L", "+4++44444L"),
    ("audit_list", "GET"): ("+3+333333L", ""),
}
API: dict[tuple[str, str], tuple[str, str]] = {
    ("api_tokens", "GET"): ("+++++++++1", ""),
    ("api_tokens", "POST"): ("++++++++++", ""),
    ("api_token", "DELETE"): ("4444444441", ""),
    ("api_teams", "GET"): ("+++++++++1", ""),
    ("api_projects", "GET"): ("+++++++++1", ""),
    ("api_project", "GET"): ("+4++++++41", "+4++444441"),
    ("api_service_token", "POST"): ("+433++3341", "+433444441"),
    ("api_audit", "GET"): ("+3+3333331", ""),
    ("api_pools", "GET"): ("+++++++++1", ""),
    ("api_pool", "GET"): ("++++++++41", "+4++444441"),
    ("api_nodes", "GET"): ("++++333331", ""),
    ("api_node", "GET"): ("++++444441", "+4++444441"),
    ("api_clusters", "GET"): ("++++333331", ""),
    ("api_templates", "GET"): ("+++++++++1", ""),
    ("api_template", "GET"): ("+++++++++1", ""),
    ("api_jobs", "GET"): ("+++++++++1", ""),
    ("api_jobs", "POST"): ("+433+++341", "+433444441"),
    ("api_job_preview", "POST"): ("+433+++341", "+433444441"),
    ("api_job", "GET"): ("+4++++++41", "+4++444441"),
    ("api_job_events", "GET"): ("+4++++++41", "+4++444441"),
    ("api_job_artifacts", "GET"): ("+4++++++41", "+4++444441"),
    ("api_job_log", "GET"): ("+4++++++41", "+4++444441"),
    ("api_job_cancel", "POST"): ("+433+++341", "+433444441"),
    ("api_my_usage", "GET"): ("+++++++++1", ""),
    ("api_project_usage", "GET"): ("+++++++++1", ""),
}
TABLE = PAGES | API
ANONYMOUS_MAY = {"healthz", "login", "set_language", "logout", "api_tokens"}


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


@pytest.fixture
def sides(cast, settings, tmp_path) -> dict[str, Objects]:
    settings.STATE_DIR = tmp_path
    publish_shipped_templates(now=make.NOW)
    far = make.make_node("n2", cast.cluster, cast.other)
    version = TemplateVersion.objects.get(template__slug="run-operation")
    own = make.make_job(cast.alpha, cast.member, name="Job of alpha", state="RUNNING", template_version=version)
    other = make.make_job(cast.beta, cast.outsider, name="Job of beta", state="RUNNING", template_version=version)
    for job, node in ((own, cast.node), (other, far)):
        held = make.make_allocation(job, node, reserved=make.NOW, bound=make.NOW, started=make.NOW)
        placement = [{"index": 0, "node": node.name, "cpu": 1_000, "memory": 0}]
        Attempt.objects.filter(pk=held.attempt_id).update(placement=placement)
    return {
        "own": Objects(cast.alpha.pk, own.pk, a_file(own, tmp_path), cast.node.pk, "shared"),
        "other": Objects(cast.beta.pk, other.pk, a_file(other, tmp_path), far.pk, "other"),
    }


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
        "api_pool": {"key": objects.pool},
        "service_token": {"key": objects.project},
        "api_service_token": {"key": objects.project},
        "api_project": {"key": objects.project},
        "api_token": {"key": uuid.uuid4()},
        "job_file": {"key": objects.job, "artifact": objects.file},
    }.get(route, {"key": objects.job} if "job_" in route or route == "api_job" else {})
    if route in ("job_list", "api_jobs", "api_job_preview"):
        arguments = {}
    path = reverse(route, kwargs=arguments)
    body: dict[str, object] = {"project": str(objects.project)}
    if method == "GET":
        answer = client.get(path, body if route == "job_new" else {})
    elif route.startswith("api_"):
        extra = {"template": "run-operation"} if route in ("api_jobs", "api_job_preview") else None
        answer = client.generic(
            method, path, data=json_of({**body, **extra} if extra else {}), content_type="application/json"
        )
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
    return {401: "1", 403: "3", 404: "4"}.get(answer.status_code, str(answer.status_code))


def test_every_route_has_a_row_and_every_row_a_route():
    assert {route for route, _ in TABLE} == routes()


def test_what_the_anonymous_may_reach_is_a_short_list():
    reached = {route for (route, _), (own, _other) in TABLE.items() if own[9] == "+"}
    assert reached == ANONYMOUS_MAY and len(reached) <= 8


@pytest.mark.parametrize(("route", "method"), list(TABLE), ids=str)
def test_access_matrix(route, method, cast, sides):
    wanted = dict(zip(("own", "other"), TABLE[route, method], strict=True))
    got = {"own": "", "other": ""}
    for side, row in wanted.items():
        for role in ROLES if row else ():
            client = Client()
            if role != "anonymous":
                client.force_login(cast.person(role))
            with transaction.atomic():
                got[side] += call(client, route, method, sides[side])
                transaction.set_rollback(True)
    assert got == wanted


@pytest.mark.parametrize("route", ["home", "job_list", "service_list", "my_usage", "usage_by_project", "api_jobs"])
def test_no_list_names_what_its_reader_may_not_see(route, cast, sides):
    for role in ("pool_admin", "lead", "owner", "member", "viewer", "stranger"):
        client = Client()
        client.force_login(cast.person(role))
        assert "beta" not in client.get(reverse(route)).content.decode().lower(), role
