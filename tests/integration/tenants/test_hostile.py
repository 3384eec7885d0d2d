"""Hostile values in every field of every change: refused or carried through both steps, never a 500."""

from collections.abc import Iterator

import pytest
from django.urls import reverse

from tenants.models import Grant, Membership
from tests import builders as make
from tests.data import hostile
from tests.integration.tenants.steps import hidden, save

FORMS = {
    "team_edit": {"name": "name", "contact": "text"},
    "team_new": {"name": "name", "slug": "slug", "contact": "text"},
    "project_new": {"name": "name", "slug": "slug", "environment": "choice", "contact": "text"},
    "project_edit": {"name": "name", "environment": "choice", "contact": "text"},
    "team_member_new": {"username": "text", "role": "choice"},
    "member_edit": {"role": "choice"},
    "person_new": {"username": "slug", "display_name": "name", "email": "text"},
    "grant_new": {"pool_key": "choice", "valid_from": "datetime", "valid_to": "datetime", "most_at_once": "count"},
    "grant_edit": {
        "valid_from": "datetime",
        "class_ceiling": "choice",
        "largest_job_parts": "number",
        "longest_limit_ms": "duration",
        "most_at_once": "count",
    },
    "quota_new": {"pool_key": "choice", "class_axis": "choice", "guarantee": "quantity_cpu", "overcommit": "boolean"},
    "quota_edit": {"guarantee": "quantity_cpu", "nominal": "quantity_cpu", "ceiling": "number"},
}
NOTHING = ["team_delete", "member_remove"]


def posted(kind: str) -> list[str]:
    """What a browser can post: no half of a surrogate pair, which is no text."""
    values = [bad.value for bad in hostile.for_form(kind)]
    return [value for value in values if value and not any("\ud800" <= char <= "\udfff" for char in value)]


def bodies(fields: dict[str, str]) -> Iterator[dict[str, str]]:
    """As many bodies as the longest list has values; shorter lists start again."""
    columns = {name: posted(kind) for name, kind in fields.items()}
    for index in range(max(len(values) for values in columns.values())):
        yield {name: values[index % len(values)] for name, values in columns.items()}


@pytest.fixture
def paths(cast) -> dict[str, str]:
    cell = make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=1_000, ceiling=None)
    member = Membership.objects.get(user=cast.member)
    grant = Grant.objects.get(project=cast.alpha)
    of_project = {"kind": "projects", "slug": "alpha"}
    arguments = {
        **{name: {"slug": "models"} for name in FORMS if name.startswith("team_")},
        "team_delete": {"slug": "models"},
        "project_new": {"slug": "models"},
        "project_edit": {"slug": "alpha"},
        "project_archive": {"slug": "alpha"},
        "member_edit": {"key": member.pk},
        "member_remove": {"key": member.pk},
        "person_new": {},
        "person_block": {"key": cast.member.pk},
        "grant_new": of_project,
        "quota_new": of_project,
        **{name: {"key": grant.pk} for name in ("grant_edit", "grant_end")},
        **{name: {"key": cell.pk} for name in ("quota_edit", "quota_delete")},
    }
    return {name: reverse(name, kwargs=given) for name, given in arguments.items()}


@pytest.mark.parametrize("route", FORMS)
def test_hostile_fields_never_fail(route, paths, cast, as_user):
    client, path = as_user(cast.platform_admin), paths[route]
    for body in bodies(FORMS[route]):
        answer = client.post(path, {**body, "step": "preview"})
        assert answer.status_code in (200, 409, 422), (answer.status_code, body)
        if b'value="save"' in answer.content:
            assert save(client, path, answer).status_code in (200, 302, 409, 422), body


@pytest.mark.parametrize("route", NOTHING)
def test_hostile_reasons_and_digests_never_fail_and_do_nothing(route, paths, cast, as_user):
    client, path = as_user(cast.platform_admin), paths[route]
    for value in posted("text"):
        answer = client.post(path, {"digest": value, "reason": value, "step": "save"})
        assert answer.status_code == 409, value
    for value in posted("note"):
        answer = client.post(path, {**hidden(client.get(path)), "reason": value, "step": "save"})
        assert answer.status_code in (409, 422), value


@pytest.mark.parametrize("step", ["", "SAVE", "x" * 5_000, "nul\0"])
def test_a_step_that_is_none_shows_the_preview(step, paths, cast, as_user):
    answer = as_user(cast.platform_admin).post(paths["team_edit"], {"name": "Other", "step": step})
    assert answer.status_code == 200 and b'value="save"' in answer.content
