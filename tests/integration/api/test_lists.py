"""Lists over the API: pages by cursor, a constant number of queries, and the same eyes as the pages have."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.services.record_event import record_event
from jobs.states import JobState
from metering.services.record_usage import record_usage
from portal.lib.rest.paging import MOST
from resources.models.catalogue import Kind
from tenants.models import AuditEvent
from tenants.services.create_token import create_token
from tenants.services.grant_pool import grant_pool
from tenants.services.record_audit import record_audit
from tests import builders as make
from tests.builders import CARD, NOW, ago
from tests.cast import Cast
from tests.integration.api.conftest import Api, As

# --- pages ----------------------------------------------------------------------------------------------


def all_pages(api: Api, path: str, limit: int) -> list[list[dict[str, Any]]]:
    """The rows of every page, by following the cursors."""
    pages, query = [], {"limit": str(limit)}
    while True:
        body = api.get(path, query).json()
        pages.append(body["results"])
        if body["next"] is None:
            return pages
        query["cursor"] = body["next"]


def test_pages_hold_every_row_once_also_at_equal_times(cast: Cast, as_user: As) -> None:
    jobs = [make.make_job(cast.alpha, cast.member, submitted=ago(hours=n // 3)) for n in range(8)]
    pages = all_pages(as_user(cast.member), "/jobs", 3)
    assert [len(page) for page in pages] == [3, 3, 2]
    rows = [row for page in pages for row in page]
    assert {row["id"] for row in rows} == {str(job.pk) for job in jobs}
    assert [row["submitted_at"] for row in rows] == sorted((row["submitted_at"] for row in rows), reverse=True)


def test_a_new_row_neither_repeats_nor_hides_any(cast: Cast, as_user: As) -> None:
    old = [make.make_job(cast.alpha, cast.member, submitted=ago(hours=n + 1)) for n in range(4)]
    api = as_user(cast.member)
    first = api.get("/jobs", {"limit": "2"}).json()
    make.make_job(cast.alpha, cast.member, submitted=NOW)
    second = api.get("/jobs", {"limit": "2", "cursor": first["next"]}).json()
    assert [row["id"] for row in first["results"] + second["results"]] == [str(job.pk) for job in old]


def test_a_last_page_that_is_full_has_no_next(cast: Cast, as_user: As) -> None:
    for _ in range(2):
        make.make_job(cast.alpha, cast.member)
    assert as_user(cast.member).get("/jobs", {"limit": "2"}).json()["next"] is None


def test_a_page_has_bounds(cast: Cast, as_user: As) -> None:
    api = as_user(cast.member)
    assert api.get("/jobs", {"limit": str(MOST)}).status_code == 200
    refused = api.get("/jobs", {"limit": str(MOST + 1)}).json()
    assert refused["fields"][0]["facts"] == {"minimum": 1, "maximum": 200}


def test_a_cursor_belongs_to_its_list_and_cannot_be_made_up(cast: Cast, as_user: As) -> None:
    for _ in range(2):
        make.make_job(cast.alpha, cast.member)
    api = as_user(cast.platform_admin)
    cursor = api.get("/jobs", {"limit": "1"}).json()["next"]
    for path, sent in (("/projects", cursor), ("/jobs", cursor[:-1] + "x"), ("/jobs", f"x{cursor}"), ("/jobs", "")):
        body = api.get(path, {"cursor": sent}).json()
        assert (body["status"], body["fields"][0]["reason"]) == (422, "BadCursor"), path


@pytest.mark.parametrize("path", ["/teams", "/projects", "/pools", "/audit", "/usage/projects", "/tokens"])
def test_every_list_can_be_paged(cast: Cast, as_user: As, path: str) -> None:
    api = as_user(cast.platform_admin)
    create_token(user=cast.platform_admin, name="second", now=NOW)
    pages = all_pages(api, path, 1)
    (whole,) = all_pages(api, path, MOST)
    assert [row for page in pages for row in page] == whole and len(whole) > 1


# --- queries --------------------------------------------------------------------------------------------

More = Callable[[Cast, int], None]


def more_jobs(cast: Cast, number: int) -> None:
    project = make.make_project(f"more-{number}", cast.models)
    someone = make.make_user(f"more-{number}")
    make.make_job(project, someone, template_version=make.make_template(f"more-{number}"))


def more_fleet(cast: Cast, number: int) -> None:
    pool, cluster = make.make_pool(f"more-{number}"), make.make_cluster(f"more-{number}")
    card = make.make_class(f"more-{number}", Kind.GPU)
    grant_pool(actor=None, tenant=cast.alpha, pool_key=pool.key, now=NOW, valid_from=ago(days=1))
    make.make_node(f"more-{number}", cluster, pool, cards=2, card_class=card)


def more_usage(cast: Cast, number: int) -> None:
    project = make.make_project(f"more-{number}", cast.models)
    for released in (None, ago(hours=1)):
        job = make.make_job(project, cast.platform_admin)
        make.make_allocation(
            job, cast.node, reserved=ago(hours=3), bound=ago(hours=3), started=ago(hours=2),
            stopped=released and ago(hours=1), released=released,
        )  # fmt: skip
    record_usage(now=NOW)


def more_rest(cast: Cast, number: int) -> None:
    make.make_team(f"more-{number}", cast.models)
    make.make_project(f"more-{number}", cast.models)
    make.make_template(f"more-{number}")
    create_token(user=cast.platform_admin, name=f"more-{number}", now=NOW)


# Path, what makes it longer, and how many queries it takes for a platform administrator (2 of them sign in).
LISTS: list[tuple[str, More, int]] = [
    ("/jobs", more_jobs, 4),
    ("/templates", more_rest, 5),
    ("/tokens", more_rest, 3),
    ("/teams", more_rest, 4),
    ("/projects", more_rest, 4),
    ("/pools", more_fleet, 11),
    ("/nodes", more_fleet, 10),
    ("/clusters", more_fleet, 6),
    ("/usage/me", more_usage, 7),
    ("/usage/projects", more_usage, 9),
    ("/audit", more_rest, 6),
]


@pytest.mark.parametrize(("path", "more", "queries"), LISTS, ids=[path for path, *_ in LISTS])
def test_the_number_of_queries_does_not_grow(cast: Cast, as_user: As, path: str, more: More, queries: int) -> None:
    api = as_user(cast.platform_admin)

    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert api.get(path, {"limit": "200"} if path != "/usage/me" else {}).status_code == 200
        return len(captured)

    more(cast, 0)
    count()  # the first use of a token in a while is written down
    few = count()
    for number in range(1, 6):
        more(cast, number)
    assert (few, count()) == (queries, queries)


def test_the_number_of_queries_of_a_job_does_not_grow(cast: Cast, as_user: As) -> None:
    job = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING)
    api = as_user(cast.member)

    def counts() -> list[int]:
        found = []
        for path in ("", "/events", "/artifacts"):
            with CaptureQueriesContext(connection) as captured:
                assert api.get(f"/jobs/{job.pk}{path}").status_code == 200
            found.append(len(captured))
        return found

    def once_more() -> None:
        record_event(job=job, at=NOW, now=NOW, kind="reason", reason="NotEvaluated")
        make.make_allocation(
            job, cast.node, reserved=ago(hours=3), bound=ago(hours=3), stopped=ago(hours=2), released=ago(hours=2)
        )

    once_more()
    counts()  # the first use of a token in a while is written down
    few = counts()
    for _ in range(4):
        once_more()
    assert counts() == few and few[0] <= 20


# --- who sees what --------------------------------------------------------------------------------------


def test_teams_and_projects_are_those_one_holds_a_role_in(cast: Cast, as_user: As) -> None:
    def slugs(role: str, path: str) -> set[str]:
        return {row["slug"] for row in as_user(cast.person(role)).get(path).json()["results"]}

    assert slugs("platform_admin", "/teams") == {"organisation", "models", "vision"}
    assert slugs("lead", "/teams") == {"models"} and slugs("member", "/teams") == slugs("stranger", "/teams") == set()
    assert slugs("manager", "/projects") == {"alpha", "beta"} and slugs("viewer", "/projects") == {"alpha"}
    assert slugs("stranger", "/projects") == set()


def test_a_project_is_read_by_those_who_see_it(cast: Cast, as_user: As) -> None:
    shown = as_user(cast.viewer).get(f"/projects/{cast.alpha.pk}").json()
    assert (shown["slug"], shown["team"]["slug"], shown["archived_at"]) == ("alpha", "models", None)
    assert as_user(cast.outsider).get(f"/projects/{cast.alpha.pk}").status_code == 404


def test_a_pool_shows_its_amounts_to_those_it_is_granted_to_and_its_nodes_to_those_who_keep_it(
    cast: Cast, as_user: As
) -> None:
    member, keeper = as_user(cast.member), as_user(cast.pool_admin)
    (pool,) = member.get("/pools").json()["results"]
    assert pool["key"] == "shared" and pool["classes"][0]["free"] == 8_000
    assert member.get("/pools/shared").json() == pool | {"drift": []}
    assert member.get("/pools/other").status_code == 404
    assert member.get(f"/nodes/{cast.node.pk}").status_code == 404
    assert member.get("/nodes").status_code == member.get("/clusters").status_code == 403
    assert [row["name"] for row in keeper.get("/nodes").json()["results"]] == ["n1"]
    assert [row["key"] for row in keeper.get("/clusters").json()["results"]] == ["site"]


def test_a_node_shows_what_is_held_of_it_and_of_its_devices(cast: Cast, as_user: As) -> None:
    card = make.make_class("card", Kind.NPU)
    node = make.make_node("n2", cast.cluster, cast.shared, cards=2, card_class=card)
    job = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING)
    make.make_allocation(job, node, (("cpu", "cpu", 3_000), ("card", "device", CARD)), reserved=ago(hours=1))
    shown = as_user(cast.platform_admin).get(f"/nodes/{node.pk}").json()
    parts = {part["class_key"]: part for part in shown["parts"]}
    assert (parts["cpu"]["held"], parts["cpu"]["free"]) == (3_000, 5_000)
    assert (parts["card"]["kind"], parts["card"]["free"]) == ("NPU", CARD)
    assert [device["uuid"] for device in shown["devices"]] == ["n2-0", "n2-1"]


def test_nodes_are_narrowed_and_what_is_stale_is_never_free(cast: Cast, as_user: As) -> None:
    make.make_node("old", cast.cluster, cast.shared, seen=ago(hours=1))
    api = as_user(cast.platform_admin)

    def names(**query: str) -> list[str]:
        return sorted(row["name"] for row in api.get("/nodes", query).json()["results"])

    assert names() == ["n1", "old"] and names(stale="true") == ["old"] and names(stale="false") == ["n1", "old"]
    assert names(q="N1") == ["n1"] and names(pool="other") == [] and names(cluster="site", stage="cordoned") == []
    (cpu, _memory) = api.get("/pools/shared").json()["classes"]
    assert (cpu["free"], cpu["no_data"], cpu["installed"]) == (8_000, 8_000, 16_000)


def test_usage_is_ones_own_or_of_projects_one_may_see(cast: Cast, as_user: As) -> None:
    for project, who in ((cast.alpha, cast.member), (cast.beta, cast.outsider)):
        job = make.make_job(project, who)
        make.make_allocation(
            job, cast.node, reserved=ago(hours=2), bound=ago(hours=2), stopped=ago(hours=1), released=ago(hours=1)
        )
    record_usage(now=NOW)
    mine = as_user(cast.member).get("/usage/me").json()
    assert (mine["start"], mine["end"]) == ("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z")
    assert [use["allocated"] for use in mine["entered"]] == ["3600000000"]
    assert as_user(cast.owner).get("/usage/me").json()["entered"] == []
    assert as_user(cast.member).get("/usage/me", {"period": "last-month"}).json()["entered"] == []

    def used(role: str) -> dict[str, bool]:
        rows = as_user(cast.person(role)).get("/usage/projects").json()["results"]
        return {row["slug"]: bool(row["entered"]) for row in rows}

    assert used("member") == {"alpha": True} and used("manager") == {"alpha": True, "beta": True}
    assert used("stranger") == {}


def test_audit_is_read_by_auditors_of_the_whole_or_of_their_teams(cast: Cast, as_user: As) -> None:
    record_audit(actor=cast.member, verb="test.alpha", target=cast.alpha, now=NOW)
    record_audit(actor=cast.outsider, verb="test.beta", target=cast.beta, now=NOW, result="failed")

    def verbs(role: str, **query: str) -> set[str]:
        rows = as_user(cast.person(role)).get("/audit", {"verb": "test."} | query).json()["results"]
        return {row["verb"] for row in rows}

    assert verbs("auditor") == {"test.alpha", "test.beta"} and verbs("team_auditor") == {"test.alpha"}
    assert verbs("auditor", result="failed") == {"test.beta"} and verbs("auditor", actor="Member") == {"test.alpha"}
    assert verbs("auditor", project="beta") == {"test.beta"} and verbs("auditor", since="2026-11-30T12:00:01Z") == set()
    assert verbs("auditor", until="2026-11-30T20:00:00+08:00") == set()
    for role in ("member", "manager", "stranger"):
        assert as_user(cast.person(role)).get("/audit").status_code == 403, role


def test_an_audit_record_is_shown_whole_so_that_its_chain_can_be_followed(cast: Cast, as_user: As) -> None:
    api = as_user(cast.auditor)
    rows = api.get("/audit", {"limit": "2"}).json()["results"]
    newest = AuditEvent.objects.latest("seq")
    assert rows[0]["hash"] == newest.hash and rows[0]["prev_hash"] == rows[1]["hash"]
