"""The setup page: four stages computed from facts, and what remains when stages are off."""

import re

import pytest

from jobs.models import ReleaseRecord
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.states import JobState
from portal.web.setup.checklist import SetupFacts, checklist
from portal.web.setup.facts import setup_facts
from portal.web.stages import Stage
from resources.models import Cluster, Pool
from tests import builders as make
from tests.builders import NOW, ago


def states(page: str) -> dict[str, str]:
    return dict(re.findall(r'data-item="([\w-]+)" data-state="(\w+)"', page))


def test_an_empty_installation_has_nothing_done_and_says_what_is_not_possible():
    found = checklist(SetupFacts())
    assert not [i.key for items in found.values() for i in items if i.state == "done"]
    assert {i.key for items in found.values() for i in items if i.state == "impossible"} == {
        "recognised",
        "topology",
        "equivalence",
    }


@pytest.mark.parametrize(("count", "said"), [(999, "999"), (1_000, "1,000"), (1_001, "more than 1,000")])
def test_a_count_that_was_ended_early_says_so(count, said):
    facts = SetupFacts(entries=count, releases=count, succeeded=count, training_succeeded=count, services_ran=count)
    why = {item.key: item.why for items in checklist(facts).values() for item in items}
    for key in ("usage", "released", "ran", "training", "service"):
        assert why[key].endswith(f": {said}."), key
    assert f"On simulated clusters only: {said}," in checklist(SetupFacts(succeeded_simulated=count))[Stage.RUN][4].why


def test_counts_are_ended_one_after_what_is_enough(cast, monkeypatch):
    monkeypatch.setattr("portal.web.setup.facts.ENOUGH", 1)
    for _ in range(3):
        done = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED)
        make.make_allocation(done, cast.node, reserved=ago(hours=2), bound=ago(hours=2), stopped=ago(hours=1))
    assert setup_facts(NOW).succeeded == 2


def test_items_follow_the_facts_and_nothing_is_stored(cast, as_user):
    client = as_user(cast.platform_admin)
    before = states(client.get("/setup").content.decode())
    assert before["cluster"] == before["nodes"] == before["pool"] == before["grants"] == "done"
    assert before["maintainers"] == before["templates"] == before["ran"] == before["quotas"] == "not_yet"
    assert before["recognised"] == "impossible"
    publish_shipped_templates(now=NOW)
    Pool.objects.update(maintainer="Rosa Adeyemi")
    done = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED, task_type="training")
    held = make.make_allocation(
        done, cast.node, reserved=ago(hours=2), bound=ago(hours=2), stopped=ago(hours=1), released=ago(hours=1)
    )
    ReleaseRecord.objects.create(allocation=held, stopped_at=ago(hours=1), completed_at=ago(hours=1))
    make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=1_000, ceiling=None)
    make.make_node("n9", cast.cluster, cast.shared, cards=1, card_class=None)
    after = states(client.get("/setup").content.decode())
    for key in ("maintainers", "templates", "ran", "training", "released", "quotas"):
        assert after[key] == "done", key
    assert after["recognised"] == "not_yet"


def test_what_ran_on_a_simulated_cluster_proves_nothing(cast, as_user):
    Cluster.objects.update(simulated=True)
    done = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED)
    make.make_allocation(done, cast.node, reserved=ago(hours=2), bound=ago(hours=2), stopped=ago(hours=1))
    facts = setup_facts(NOW)
    assert (facts.clusters, facts.simulated_clusters, facts.succeeded, facts.succeeded_simulated) == (0, 1, 0, 1)
    page = as_user(cast.platform_admin).get("/setup").content.decode()
    assert "On simulated clusters only: 1, which proves nothing here." in page


def test_only_the_platform_administrator_sees_it(cast, as_user):
    assert as_user(cast.lead).get("/setup").status_code == 403
    body = as_user(cast.platform_admin).get("/api/v1/setup").json()
    assert [stage["stage"] for stage in body["stages"]] == list(Stage)


def test_the_setup_page_stays_below_thirty_queries(cast, as_user, django_assert_max_num_queries):
    client = as_user(cast.platform_admin)
    with django_assert_max_num_queries(30):
        client.get("/setup")


MAIN = {
    "see": ["/", "/nodes", "/pools", "/pools/shared", "/audit", "/setup", "/inbox", "/about"],
    "run": ["/templates", "/templates/run-operation/new", "/jobs", "/services"],
    "share": ["/usage/me", "/usage/projects"],
    "span": [],
}


@pytest.mark.parametrize("furthest", MAIN)
def test_below_the_furthest_stage_everything_works_and_above_it_nothing_is_offered(cast, as_user, settings, furthest):
    publish_shipped_templates(now=NOW)
    settings.STAGES = furthest
    order = list(MAIN)
    on = [path for stage in order[: order.index(furthest) + 1] for path in MAIN[stage]]
    off = [path for stage in order[order.index(furthest) + 1 :] for path in MAIN[stage]]
    client = as_user(cast.platform_admin)
    for path in on:
        page = client.get(path)
        assert page.status_code == 200, path
        links = set(re.findall(r'<a href="([^"?#]+)"', page.content.decode().split("<main")[0]))
        assert not links & set(off), path
    for path in off:
        refused = client.get(path)
        assert refused.status_code == 404 and "switched off" in refused.content.decode(), path


@pytest.mark.parametrize("role", ["platform_admin", "pool_admin", "auditor", "manager", "lead", "member", "viewer"])
@pytest.mark.parametrize("furthest", ["see", "run", "share"])
def test_every_home_stands_with_stages_off(cast, as_user, settings, role, furthest):
    settings.STAGES = furthest
    make.make_job(cast.alpha, cast.member)
    assert as_user(cast.person(role)).get("/").status_code == 200


def test_the_api_of_a_stage_that_is_off_says_so(cast, as_user, settings):
    settings.STAGES = "see"
    refused = as_user(cast.member).get("/api/v1/jobs")
    assert (refused.status_code, refused.json()["reason"]) == (404, "StageOff")


def test_about_says_what_is_real_to_everyone_and_hides_a_production_inventory(cast, as_user, client, settings):
    Cluster.objects.update(simulated=True)
    page = client.get("/about").content.decode()
    assert "What Armillary is" in page and 'data-state="simulated"' in page and "PostgreSQL" in page
    settings.MODE = "production"
    page = client.get("/about").content.decode()
    assert "Site" not in page and "PostgreSQL" not in page and "Sign in to see" in page
    assert "Site" in as_user(cast.member).get("/about").content.decode()
    assert client.get("/api/v1/about").json()["clusters"] == []
    assert '/about"' in client.get("/login").content.decode()
