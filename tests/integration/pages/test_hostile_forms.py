"""Hostile inputs in every field of every form and address: a clear error beside the field, nothing stored, never a 500.

Each request carries one hostile value in every field at once, so that all values of the corpus pass in few requests.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from jobs.models import Job
from jobs.services.publish_shipped_templates import publish_shipped_templates
from tenants.services.grant_pool import grant_pool
from tests import builders as make
from tests.data import hostile

# Template -> field of the form -> type of the corpus.
FORMS = {
    "train-network": {
        "name": "name",
        "members": "count",
        "cpu": "quantity_cpu",
        "memory": "quantity_memory",
        "time_limit": "duration",
        "max_wait": "duration",
        "pool": "choice",
        "device_class": "choice",
        "devices": "count",
        "params-dataset": "artifact",
        "params-learning_rate": "number",
        "params-steps": "integer",
    },
    "run-operation": {
        "params-operation": "choice",
        "params-size_mib": "integer",
        "params-duration": "duration",
    },
    "fine-tune-network": {"params-checkpoint": "artifact", "params-freeze_first_layer": "boolean"},
    "open-session": {"params-note": "note", "params-time_to_live": "duration"},
}
ADDRESSES = {
    "job_list": (
        "q",
        "state",
        "page",
        "mine",
        "type",
        "template",
        "project",
        "team",
        "submitter",
        "pool",
        "cluster",
        "reason",
        "uses",
        "since",
        "until",
    ),
    "queue_page": ("pool", "project", "reason", "page"),
    "artifact_list": ("kind", "project", "q", "page"),
    "service_list": ("page", "ended"),
    "template_list": ("retired", "page"),
    "my_usage": ("period", "page"),
    "usage_by_project": ("period",),
    "node_list": ("q", "pool", "stage", "cluster"),
    "audit_list": ("verb", "actor", "project", "result", "since", "until", "before", "cursor", "team", "text"),
    "team_list": ("page", "projects"),
    "project_list": ("q", "archived", "page"),
    "people": ("q", "state", "page"),
    "token_list": ("page",),
    "pool_list": ("page",),
}


def posted(kind: str) -> list[str]:
    """What a browser can post: not empty, which is a default, and no half of a surrogate pair, which is no text."""
    values = [bad.value for bad in hostile.for_form(kind)]
    return [v for v in values if v and not any("\ud800" <= c <= "\udfff" for c in v)]


def bodies(fields: dict[str, str]) -> Iterator[dict[str, str]]:
    """As many bodies as the longest list has values; shorter lists start again."""
    columns = {name: [v for v in posted(kind) if (name, v) != ("devices", "0")] for name, kind in fields.items()}
    for index in range(max(len(values) for values in columns.values())):
        yield {name: values[index % len(values)] for name, values in columns.items()}


@pytest.fixture
def researcher(cast, as_user):
    publish_shipped_templates(now=make.NOW)
    cards = make.make_class("card", "GPU")
    make.make_node("n2", cast.cluster, cast.other, cards=2, card_class=cards)
    grant_pool(actor=None, tenant=cast.alpha, pool_key="other", now=make.NOW, valid_from=make.ago(days=90))
    return as_user(cast.member)


@pytest.mark.parametrize("template", FORMS)
def test_hostile_values_are_refused_beside_their_fields_and_nothing_is_stored(template, researcher):
    for body in bodies(FORMS[template]):
        answer = researcher.post(reverse("job_new", args=[template]), body)
        page = answer.content.decode()
        silent = [(name, value) for name, value in body.items() if f'id="id_{name}_error"' not in page]
        assert answer.status_code == 422 and silent == []
    assert not Job.objects.exists()


def test_hostile_values_get_a_verdict_that_names_them(researcher):
    for body in bodies(FORMS["train-network"]):
        answer = researcher.post(reverse("job_preview", args=["train-network"]), body)
        # Never: some of them are only too much.
        assert answer.status_code == 200 and re.search('data-verdict="(unknown|never)"', answer.content.decode()), body


@pytest.mark.parametrize("field", ["project", "from"])
def test_hostile_keys_in_the_form_are_not_found(field, researcher):
    for value in posted("uuid"):
        answer = researcher.post(reverse("job_new", args=["run-operation"]), {field: value})
        assert answer.status_code == 404, value
    assert not Job.objects.exists()


@pytest.mark.parametrize("route", ADDRESSES)
def test_hostile_addresses_never_fail(route, cast, as_user):
    client = as_user(cast.platform_admin)
    values = list(dict.fromkeys(v for kind in ("text", "integer", "uuid", "datetime") for v in posted(kind)))
    # Addresses are read by the same few functions: each gets a part of the corpus, and three in a row get all of it.
    for value in values[list(ADDRESSES).index(route) % 3 :: 3]:
        answer = client.get(f"{reverse(route)}?{urlencode(dict.fromkeys(ADDRESSES[route], value))}")
        assert answer.status_code < 500, value


def test_hostile_sign_ins_never_fail_and_open_no_session(client, cast, db):
    for value in posted("text"):
        answer = client.post(reverse("login"), {"username": value, "password": value})
        assert answer.status_code in (200, 422, 429) and "_auth_user_id" not in client.session, value
