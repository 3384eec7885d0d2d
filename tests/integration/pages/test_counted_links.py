"""A count that links leads to exactly that many rows."""

from functools import cache, partial

import pytest

from jobs.states import JobState
from resources.models import Cluster, Node, ResourceClass
from resources.models.catalogue import Kind
from tests import builders as make
from tests.builders import ago
from tests.cast import ROLES
from tests.e2e.crawl import crawl
from tests.integration.pages.counted_links import counted, rows_behind

LOST = {"state": JobState.FAILED, "reason": "MemoryLimit", "facts": {"max": make.GIB, "resource": "memory"}}


@pytest.fixture
def house(cast):
    """Something of every kind that a home counts, and beside each what must not be counted with it."""
    card = make.make_class("gpu-a", Kind.GPU)
    for stage in set(Node.Stage.values) - {Node.Stage.SCHEDULABLE}:
        make.make_node(f"n-{stage}", cast.cluster, cast.shared, stage=stage)
    make.make_node("cards", cast.cluster, cast.shared, cards=2, card_class=card)
    make.make_node("unknown", cast.cluster, cast.shared, cards=3)
    make.make_node("silent", make.make_cluster("late", seen=ago(hours=1)), cast.shared, seen=ago(hours=1))
    Cluster.objects.filter(pk=make.make_cluster("gone").pk).update(state=Cluster.State.DETACHED)
    for project, who in ((cast.alpha, cast.member), (cast.alpha, cast.lead), (cast.beta, cast.outsider)):
        make.make_job(project, who, state=JobState.RUNNING, reason="Running")
        pooled = {"pool": "shared", "pool_key": "shared", "free": 0, "total": 8_000, "need": 4_000, "resource": "cpu"}
        make.make_job(project, who, reason="InsufficientCapacity", facts=pooled | {"res": "CPU"})
        for reason in ("NotEvaluated", "PoolNotGranted", "AwaitingApproval", "QuotaExhausted", "ClassNotFound"):
            make.make_job(project, who, reason=reason, facts={"pool_key": "shared"})
        make.make_job(project, who, state=JobState.FAILED, submitted=ago(days=3), finished_at=ago(hours=3))
        make.make_job(project, who, submitted=ago(days=40), finished_at=ago(hours=1), **LOST)
        make.make_job(project, who, submitted=ago(days=9), finished_at=ago(days=8), **LOST)
        make.make_job(project, who, state=JobState.SUCCEEDED, submitted=ago(days=4), finished_at=ago(days=4))
        make.make_job(project, who, state=JobState.SUCCEEDED, submitted=ago(hours=4), finished_at=ago(hours=2))
    return cast


def follow(client):
    """Every count that does not match its list, and how many links were followed. Each address is read once."""
    read = {}

    def html_of(path, origin):
        response = client.get(path)
        is_page = response.status_code == 200 and "html" in response["Content-Type"]
        read[path] = response.content.decode() if is_page else None
        return read[path]

    rows = cache(partial(rows_behind, client))
    promises = [(path, *said) for path in crawl(html_of).values() for said in counted(read[path], path)]
    wrong = [
        f"{path}: {address} promises {count}, has {rows(address)}"
        for path, address, count in promises
        if rows(address) not in (None, count)
    ]
    return wrong, len(promises)


LEAST = {"platform_admin": 10, "pool_admin": 4, "auditor": 3, "lead": 3, "member": 4, "owner": 4}


@pytest.mark.parametrize("role", ROLES)
def test_every_count_of_every_page_leads_to_that_many_rows(house, as_user, role):
    client = as_user(house.person(role))
    wrong, followed = follow(client)
    assert wrong == []
    assert followed >= LEAST.get(role, 0)


def test_unrecognised_devices_are_behind_the_link_that_names_them(house, as_user):
    client = as_user(house.platform_admin)
    page = client.get("/").content.decode()
    assert 'href="/devices?class=vendor.example%2Fcard"' in page
    assert rows_behind(client, "/devices?class=vendor.example%2Fcard") == 3
    listed = client.get("/devices?class=vendor.example%2Fcard").content.decode()
    assert '<option value="vendor.example/card" selected>' in listed
    assert not ResourceClass.objects.filter(key="vendor.example/card").exists()
