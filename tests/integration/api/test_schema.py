"""The documentation of the API is complete, checked in, and true: a fuzzer reads it and finds nothing else."""

import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import yaml
from django.conf import settings
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.urls import get_resolver
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pytest_django import DjangoDbBlocker
from schemathesis import GenerationMode

from jobs.models import Job
from portal.wsgi import application
from tenants.models import Grant, Membership
from tests import builders as make
from tests import declared
from tests.cast import Cast
from tests.integration.api.conftest import As

DOCUMENT = Path(settings.BASE_DIR) / "docs" / "openapi.yaml"
METHODS = {"get", "post", "put", "patch", "delete"}


@cache
def document() -> dict[str, Any]:
    """What is checked in, read once; whoever may change it takes a copy."""
    # libyaml's reader, which takes a tenth of the time
    found: dict[str, Any] = yaml.load(DOCUMENT.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return found


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method and documentation of every operation."""
    for path, methods in document()["paths"].items():
        for method in METHODS & methods.keys():
            yield path, method, methods[method]


def test_the_checked_in_document_is_the_one_the_code_gives(tmp_path: Path) -> None:
    made = tmp_path / "openapi.yaml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(made))
    assert made.read_text() == DOCUMENT.read_text(), "run: ./dev manage spectacular --file docs/openapi.yaml"


def test_every_route_of_the_api_is_documented() -> None:
    def routes(resolver: Any, prefix: str = "") -> Iterator[str]:
        for pattern in resolver.url_patterns:
            route = prefix + str(pattern.pattern)
            if hasattr(pattern, "url_patterns"):
                yield from routes(pattern, route)
            else:
                yield route

    known = {re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route}") for route in routes(get_resolver())}
    assert {route for route in known if route.startswith("/api/")} == set(document()["paths"])


OPEN = {"/api/v1/about"}
"""What anybody may read."""


def test_operations_have_names_one_can_read() -> None:
    names = [operation["operationId"] for _path, _method, operation in operations()]
    assert len(set(names)) == len(names)
    verbs = "list|read|create|delete|submit|preview|cancel|renew|download|copy|publish|retire|restore|verify|define"
    verbs += "|change|register|set|grant|end|take|hold|mark|archive|give|make|admit|validate"
    verbs += "|declare|remove|withdraw|add|unblock"
    assert all(re.fullmatch(rf"({verbs})_[a-z_]+", name) for name in names)


def test_every_operation_says_all_it_may_refuse() -> None:
    for path, method, operation in operations():
        answers = set(operation["responses"])
        assert {"422"} <= answers and ("401" in answers or path in OPEN), path
        assert method != "post" or {"400", "403", "413", "415"} <= answers, path
        assert "{" not in path or "404" in answers, path
        for status, answer in operation["responses"].items():
            if status >= "400":
                shape = answer["content"]["application/problem+json"]["schema"]
                assert shape == {"$ref": "#/components/schemas/Problem"}, (path, status)
        assert operation["summary"] and operation["description"], path


# --- the fuzzer -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script(cast_rows: Cast, django_db_blocker: DjangoDbBlocker) -> None:
    """Somebody with a password, which takes long to digest: once, for the rest of the module."""
    with django_db_blocker.unblock():
        make.make_user("script", password="correct horse battery")


@pytest.fixture
def known(cast: Cast, templates: None, script: None, ended: Job, log: Path) -> dict[str, list[Any]]:
    """Values that lead somewhere, for the names of paths and bodies."""
    return {
        "/jobs": [ended.pk, make.make_job(cast.alpha, cast.member).pk],
        "/projects": [cast.alpha.pk, cast.beta.pk],
        "/teams": [cast.models.pk, cast.vision.pk],
        "/people": [cast.member.pk],
        "/members": list(Membership.objects.filter(user=cast.member).values_list("pk", flat=True)),
        "/grants": list(Grant.objects.values_list("pk", flat=True)),
        "/quotas": [make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=1_000, ceiling=None).pk],
        "/nodes": [cast.node.pk],
        "/clusters": ["site"],
        "/classes": ["cpu", "memory"],
        "/pools": ["shared", "other"],
        "/runtimes": [declared.make_runtime().key],
        "/vendor-rows": [declared.make_vendor_row().pk],
        "/templates": ["run-operation", "make-data-set"],
        "project": [str(cast.alpha.pk)],
        "template": ["run-operation"],
        "name": ["fuzzer"],
        "username": ["script"],
        "password": ["correct horse battery"],
    }


@pytest.fixture
def one_connection() -> Iterator[None]:
    """As Django's own test client does: the test's transaction outlives each request."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


BODIES = {"jobs": ("project", "template"), "tokens": ("name", "username", "password")}
"""Names of a body that must fit together before anything is done, by a word of the path."""


def lead_somewhere(case: Any, known: dict[str, list[Any]], data: st.DataObject) -> None:
    """Most invented keys, and some bodies, become ones that exist, so that not all is refused at the door."""
    place = data.draw(st.integers(0, 3))
    for prefix, keys in known.items():
        if place and case.operation.path.startswith(f"/api/v1{prefix}/") and case.path_parameters:
            name = next(iter(case.path_parameters))
            case.path_parameters[name] = str(data.draw(st.sampled_from(keys)))
    if place and case.query:
        case.query.pop("cursor", None)  # one that was invented leads nowhere
    names = next((names for word, names in BODIES.items() if word in case.operation.path), ())
    if place and names and isinstance(case.body, dict):
        case.body = {**({} if place == 1 else case.body), **{name: known[name][0] for name in names}}


@cache
def described() -> Any:
    """The document as the fuzzer understands it, which takes half a second: once for all operations."""
    schema = schemathesis.openapi.from_dict(deepcopy(document()))
    schema.app = application
    return schema


OUT_OF_REACH = {
    "/api/v1/jobs/{key}/files/{artifact}",
    "/api/v1/jobs/{key}/log",
    "/api/v1/cluster-roles/{right}",
    "/api/v1/clusters/{key}/access",
}
"""Reads that need two keys which fit each other, a log, or a cluster of another kind."""
OPERATIONS = sorted((path, method) for path, method, _operation in operations())


@pytest.mark.usefixtures("one_connection")
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{method} {path}" for path, method in OPERATIONS])
def test_the_fuzzer_gets_only_documented_answers(
    cast: Cast, as_user: As, known: dict[str, list[Any]], path: str, method: str
) -> None:
    operation = described()[path][method.upper()]
    asking = [as_user(person).headers for person in (cast.platform_admin, cast.owner)]
    answered: set[int] = set()
    checks = [
        schemathesis.checks.not_a_server_error,
        *(schemathesis.checks.CHECKS.get_one(name) for name in (
            "status_code_conformance", "content_type_conformance", "response_schema_conformance",
            "response_headers_conformance",
        )),
    ]  # fmt: skip

    @seed(2026)
    @hypothesis_settings(
        max_examples=15, deadline=None, database=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(
        case=operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE),
        data=st.data(),
    )
    def fuzz(case: Any, data: st.DataObject) -> None:
        lead_somewhere(case, known, data)
        headers = data.draw(st.sampled_from(asking))
        answered.add(case.call_and_validate(headers=headers, checks=checks).status_code)

    fuzz()
    if method == "get" and path not in OUT_OF_REACH:
        assert 200 in answered, f"nothing was ever read: {answered}"
