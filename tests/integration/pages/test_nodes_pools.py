"""Nodes and pools: who sees which, what is free, what is stale, and what stays hidden."""

from datetime import timedelta

import pytest

from jobs.models import DeviceHold
from jobs.states import JobState
from resources.models import Cluster, Device, Node
from resources.models.catalogue import Kind
from resources.selectors.fleet import nodes_visible_to, pools_visible_to
from tenants.services.grant_pool import grant_pool
from tests import builders as make
from tests.builders import CARD, GIB, NOW

EVERYONE = (
    "platform_admin",
    "pool_admin",
    "auditor",
    "team_auditor",
    "manager",
    "lead",
    "owner",
    "member",
    "viewer",
    "outsider",
    "stranger",
)
SEES_NODES = {
    "platform_admin": {"n1", "unpooled", "elsewhere"},
    "auditor": {"n1", "unpooled", "elsewhere"},
    "manager": {"n1", "elsewhere"},
    "pool_admin": {"n1"},
}
SEES_POOLS = {
    **dict.fromkeys(("platform_admin", "auditor", "manager"), frozenset({"shared", "other"})),
    **dict.fromkeys(("pool_admin", "team_auditor", "lead", "owner", "member", "viewer"), frozenset({"shared"})),
}


@pytest.fixture
def fleet(cast):
    """Two more nodes: one without a pool, one in the pool nobody is granted."""
    make.make_node("unpooled", cast.cluster)
    make.make_node("elsewhere", cast.cluster, cast.other)
    return cast


def hold(cast, node: Node, *, project=None, submitter=None, name: str = "working", lines=(("cpu", "cpu", 3_000),)):
    """A job that runs on the node."""
    job = make.make_job(project or cast.alpha, submitter or cast.member, name=name, state=JobState.RUNNING, lines=lines)
    begun = NOW - timedelta(minutes=5)
    return make.make_allocation(job, node, lines, reserved=begun, bound=begun, started=begun)


@pytest.mark.parametrize("role", EVERYONE)
def test_who_sees_which_nodes(fleet, as_user, role):
    user, sees = fleet.person(role), SEES_NODES.get(role, set())
    assert set(nodes_visible_to(user).values_list("name", flat=True)) == sees
    client = as_user(user)
    assert client.get("/nodes").status_code == (200 if sees else 403)
    for node in Node.objects.all():
        assert client.get(f"/nodes/{node.pk}").status_code == (200 if node.name in sees else 404)


@pytest.mark.parametrize("role", EVERYONE)
def test_who_sees_which_pools(fleet, as_user, role):
    user, sees = fleet.person(role), SEES_POOLS.get(role, set())
    assert set(pools_visible_to(user, NOW).values_list("key", flat=True)) == sees
    client = as_user(user)
    page = client.get("/pools").content.decode()
    for key in ("shared", "other"):
        assert (f'href="/pools/{key}"' in page) is (key in sees)
        assert client.get(f"/pools/{key}").status_code == (200 if key in sees else 404)


def test_a_grant_shows_a_pool_only_while_it_is_valid(cast):
    assert not pools_visible_to(cast.outsider, NOW).exists()
    hour = timedelta(hours=1)
    grant_pool(actor=None, tenant=cast.vision, pool_key="other", now=NOW, valid_from=NOW - hour, valid_to=NOW + hour)
    assert [pool.key for pool in pools_visible_to(cast.outsider, NOW)] == ["other"]
    assert not pools_visible_to(cast.outsider, NOW + hour).exists()
    assert not pools_visible_to(cast.outsider, NOW - 2 * hour).exists()


def test_a_researcher_sees_what_is_free_in_a_granted_pool_but_not_its_nodes(cast, as_user):
    hold(cast, cast.node)
    page = as_user(cast.member).get("/pools/shared").content.decode()
    assert "CPU" in page
    # 8 cores, 3 of them held
    assert ">5<" in page
    assert "n1" not in page
    assert 'data-panel="nodes"' not in page
    assert "Rosa Adeyemi" in page


def test_a_pool_admin_sees_the_nodes_of_the_pool(cast, as_user):
    page = as_user(cast.pool_admin).get("/pools/shared").content.decode()
    assert 'data-panel="nodes"' in page
    assert f'href="/nodes/{cast.node.pk}"' in page


def test_who_holds_a_grant_is_told_to_those_who_look_after_the_pool(cast, as_user):
    grant_pool(actor=None, tenant=cast.beta, pool_key="shared", now=NOW, valid_from=NOW - timedelta(days=1))
    assert "Beta" in as_user(cast.pool_admin).get("/pools/shared").content.decode()
    member = as_user(cast.member).get("/pools/shared").content.decode()
    assert "Alpha" in member
    assert "Beta" not in member


def test_capacity_counts_only_fresh_schedulable_nodes_as_free(cast, as_user):
    make.make_node("late", cast.cluster, cast.shared, seen=NOW - timedelta(seconds=61))
    make.make_node("out", cast.cluster, cast.shared, stage=Node.Stage.CORDONED)
    hold(cast, cast.node)
    page = as_user(cast.manager).get("/pools/shared").content.decode()
    cpu = page[page.index('data-panel="classes"') :]
    cpu = cpu[cpu.index("CPU") : cpu.index("</tr>", cpu.index("CPU"))]
    # installed 24, schedulable 8, held 3, free 5, out of service 8, no data 8
    figures = [cell.split("<")[0].strip() for cell in cpu.split('<td class="num')[1:]]
    assert [figure.split(">")[-1] for figure in figures] == ["24", "8", "3", "5", "8", "8"]
    assert "37.5%" in cpu


def test_a_pool_whose_nodes_are_all_stale_has_no_fresh_data_instead_of_free_capacity(cast, as_user):
    Node.objects.update(last_seen_at=NOW - timedelta(minutes=11))
    page = as_user(cast.member).get("/pools").content.decode()
    assert "no fresh data" in page
    assert "8 / 8" not in page


def test_a_stale_node_is_shown_stale_with_its_age(cast, as_user):
    Node.objects.filter(pk=cast.node.pk).update(last_seen_at=NOW - timedelta(minutes=11))
    client = as_user(cast.platform_admin)
    row = client.get("/nodes").content.decode()
    assert 'data-state="stale"' in row
    assert "11 minutes ago" in row
    page = client.get(f"/nodes/{cast.node.pk}").content.decode()
    assert "Not seen in time" in page
    assert 'data-state="schedulable"' not in page


def test_a_node_page_shows_amounts_devices_labels_and_numa(cast, as_user):
    card = make.make_class("gpu-a", Kind.GPU)
    node = make.make_node(
        "n2",
        cast.cluster,
        cast.shared,
        cards=2,
        card_class=card,
        os="Debian 13",
        labels={"zone": "<b>east</b>"},
        numa=[{"index": 0, "cpus": [0, 1, 2, 3], "memory": 16 * GIB}],
    )
    Device.objects.filter(group__node=node, index=1).update(healthy=False, detail="ECC error")
    allocation = hold(cast, node, lines=(("gpu-a", "device", CARD), ("memory", "memory", 8 * GIB)))
    line = allocation.lines.get(resource="device")
    DeviceHold.objects.create(
        line=line, device=Device.objects.get(group__node=node, index=0), parts=CARD, exclusive=True
    )
    page = as_user(cast.platform_admin).get(f"/nodes/{node.pk}").content.decode()
    for text in ("GPU-A", "1 card", "Unhealthy · ECC error", "16 GiB", "&lt;b&gt;east&lt;/b&gt;", "Debian 13", ">24<"):
        assert text in page, text


def test_devices_that_no_class_matches_are_shown_as_unrecognised_and_not_dropped(cast, as_user):
    node = make.make_node("n3", cast.cluster, cast.shared, cards=1)
    page = as_user(cast.platform_admin).get(f"/nodes/{node.pk}").content.decode()
    assert "vendor.example/card" in page
    assert "unrecognised" in page


def test_a_node_names_only_jobs_the_reader_may_see(cast, as_user):
    hold(cast, cast.node, name="secret-of-alpha")
    hold(cast, cast.node, name="secret-of-beta", project=cast.beta, submitter=cast.outsider)
    page = as_user(cast.pool_admin).get(f"/nodes/{cast.node.pk}").content.decode()
    assert "secret-of" not in page
    assert "2 jobs of other projects" in page
    page = as_user(cast.platform_admin).get(f"/nodes/{cast.node.pk}").content.decode()
    assert "secret-of-alpha" in page
    assert "secret-of-beta" in page
    assert "of other projects" not in page


def test_nodes_are_filtered_by_stage_cluster_pool_name_and_staleness(fleet, as_user):
    far = make.make_cluster("far")
    make.make_node("far-1", far, stage=Node.Stage.DRAINING, seen=NOW - timedelta(hours=1))
    client = as_user(fleet.platform_admin)

    def shown(query: str) -> set[str]:
        page = client.get(f"/nodes?{query}").content.decode()
        return {name for name in ("n1", "unpooled", "elsewhere", "far-1") if f">{name}</a>" in page}

    assert shown("stage=draining") == {"far-1"}
    assert shown("cluster=far") == {"far-1"}
    assert shown("pool=shared") == {"n1"}
    assert shown("q=POOL") == {"unpooled"}
    assert shown("stale=1") == {"far-1"}
    assert shown("stage=draining&pool=shared") == set()
    assert "No node matches" in client.get("/nodes?stage=nonsense").content.decode()


@pytest.mark.parametrize("query", ["q=%00", "page=-1", "page=99999999999999999999", "q=" + "é" * 3000, "stage[]=x"])
def test_hostile_filters_are_never_an_error(cast, as_user, query):
    client = as_user(cast.platform_admin)
    assert client.get(f"/nodes?{query}").status_code == 200
    assert client.get(f"/pools?{query}").status_code == 200


def test_a_simulated_cluster_wears_its_ribbon(cast, as_user):
    Cluster.objects.update(simulated=True)
    client = as_user(cast.platform_admin)
    for path in ("/nodes", f"/nodes/{cast.node.pk}", "/pools", "/pools/shared"):
        assert 'class="ribbon"' in client.get(path).content.decode()


def test_pages_speak_both_languages(cast, as_user):
    cast.platform_admin.language = "zh-hans"
    cast.platform_admin.save()
    client = as_user(cast.platform_admin)
    for path in ("/nodes", f"/nodes/{cast.node.pk}", "/pools", "/pools/shared"):
        assert '<html lang="zh-Hans">' in client.get(path).content.decode()
