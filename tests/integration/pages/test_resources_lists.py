"""Clusters, devices, classes, runtimes and data as their readers may see them: nothing dropped, nothing made up."""

import csv
import io
from datetime import timedelta

import pytest

from resources.models import Cluster, DataSource, Device, DeviceGroup, Node
from resources.models.catalogue import Kind
from resources.services.declare_runtime import declare_runtime
from tests import builders as make
from tests.builders import CARD, NOW

LISTS = ("/clusters", "/nodes", "/devices", "/pools", "/classes", "/runtimes", "/data")


@pytest.fixture
def fleet(cast):
    """Cards of a class and of none, one of them sick; a group that only counts; a late cluster."""
    card = make.make_class("gpu-a", Kind.GPU, price=5_000_000, weight=2_500_000)
    make.make_node("g1", cast.cluster, cast.shared, cards=3, card_class=card)
    make.make_node("g2", cast.cluster, cast.other, cards=1)
    Device.objects.filter(uuid="g1-1").update(healthy=False, detail="ECC error")
    counted = make.make_node("g3", cast.cluster, cast.shared)
    DeviceGroup.objects.create(
        node=counted,
        resource_name="vendor.example/raw",
        kind="NPU",
        capacity_parts=4 * CARD,
        allocatable_parts=4 * CARD,
    )
    make.make_node("late", make.make_cluster("far", seen=NOW - timedelta(hours=1)), seen=NOW - timedelta(hours=1))
    return cast


def body(page: str, panel: str) -> str:
    start = page.index(f'data-panel="{panel}"')
    return page[start : page.index("</section>", start)]


def figures(client, path: str) -> list[dict[str, str]]:
    answer = client.get(path)
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode().lstrip("\ufeff"))))


def test_clusters_show_what_they_have_and_how_old_it_is(fleet, as_user):
    page = as_user(fleet.platform_admin).get("/clusters").content.decode()
    assert 'href="/nodes?cluster=site&amp;stage=schedulable"' in page
    assert "1 hour ago" in page
    # The cluster itself and its only node, which is not counted as schedulable any more.
    assert page.count('data-state="stale"') == 2
    assert 'href="/nodes?cluster=far&amp;stale=1"' in page
    page = as_user(fleet.platform_admin).get("/clusters/far").content.decode()
    assert "Not seen in time" in page
    assert "None of its nodes belongs to a pool" in page


def test_a_pool_admin_sees_of_a_cluster_only_the_nodes_of_the_pool(fleet, as_user):
    client = as_user(fleet.pool_admin)
    page = client.get("/clusters").content.decode()
    assert "/clusters/far" not in page
    assert "3 <span" in body(page, "clusters")
    assert "other" not in body(page, "clusters")
    assert client.get("/clusters/far").status_code == 404


def test_an_error_is_shown_in_words(cast, as_user):
    Cluster.objects.update(last_error="connection refused")
    page = as_user(cast.platform_admin).get("/clusters/site").content.decode()
    assert "It did not answer when it was last asked" in page
    assert "connection refused" in page


def test_every_device_is_listed_once_and_none_is_dropped(fleet, as_user):
    client = as_user(fleet.platform_admin)
    page = client.get("/devices").content.decode()
    for uuid in ("g1-0", "g1-1", "g1-2", "g2-0"):
        assert page.count(f">{uuid}</td>") == 1
    assert "vendor.example/card" in body(page, "devices")
    assert "unrecognised" in body(page, "devices")
    assert "Unhealthy · ECC error" in page
    groups = body(page, "groups")
    assert "vendor.example/raw" in groups
    assert ">4<" in groups


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("class=gpu-a", {"g1-0", "g1-1", "g1-2"}),
        ("class=-", {"g2-0"}),
        ("health=unhealthy", {"g1-1"}),
        ("health=healthy", {"g1-0", "g1-2", "g2-0"}),
        ("health=stale", set()),
        ("health=nonsense", set()),
        ("pool=other", {"g2-0"}),
        ("node=G1&health=healthy", {"g1-0", "g1-2"}),
        ("model=Model+A&cluster=site", {"g1-0", "g1-1", "g1-2", "g2-0"}),
        ("vendor=nobody", set()),
    ],
)
def test_devices_are_filtered(fleet, as_user, query, wanted):
    client = as_user(fleet.platform_admin)
    page = client.get(f"/devices?{query}").content.decode()
    assert {uuid for uuid in ("g1-0", "g1-1", "g1-2", "g2-0") if f">{uuid}</td>" in page} == wanted
    assert ("No device matches" in page) is (not wanted)
    assert {row["uuid"] for row in figures(client, f"/devices?{query}&format=csv")} == wanted


def test_devices_of_a_silent_node_are_neither_healthy_nor_free(fleet, as_user):
    Node.objects.filter(name="g1").update(last_seen_at=NOW - timedelta(hours=1))
    rows = figures(as_user(fleet.platform_admin), "/devices?node=g1&format=csv")
    assert {(row["state"], row["use"]) for row in rows} == {("stale", "unknown")}


def test_nodes_with_problems_are_found(fleet, as_user):
    Node.objects.filter(name="n1").update(ready=False)
    page = as_user(fleet.platform_admin).get("/nodes?problems=1").content.decode()
    found = {name for name in ("n1", "g1", "g2", "g3", "late") if f">{name}</a>" in page}
    assert found == {"n1", "g1", "g2", "g3", "late"}
    Device.objects.update(healthy=True)
    Node.objects.update(ready=True)
    page = as_user(fleet.platform_admin).get("/nodes?problems=1&class=gpu-a").content.decode()
    assert "No node matches" in page


def test_lists_are_sorted_by_their_heads(fleet, as_user):
    client = as_user(fleet.platform_admin)
    assert [row["uuid"] for row in figures(client, "/devices?sort=-uuid&format=csv")] == [
        "g2-0",
        "g1-2",
        "g1-1",
        "g1-0",
    ]
    page = client.get("/nodes?sort=-name").content.decode()
    assert page.index(">n1</a>") < page.index(">late</a>") < page.index(">g1</a>")
    assert 'aria-sort="descending"' in page


def test_a_class_shows_its_rate_and_what_there_is_of_it(fleet, as_user):
    page = as_user(fleet.platform_admin).get("/classes").content.decode()
    assert "5.00 points" in page
    assert ">2.5<" in page
    page = as_user(fleet.platform_admin).get("/classes/gpu-a").content.decode()
    cells = [cell.split("<")[0] for cell in body(page, "pools").split('<td class="num">')[1:]]
    # installed, schedulable, held, free, out, no data, unhealthy or kept back
    assert cells == ["3", "3", "0", "3", "0", "0", "0"]
    assert "in force" in body(page, "rates")


def test_a_reader_sees_amounts_of_granted_pools_only(fleet, as_user):
    page = as_user(fleet.outsider).get("/classes/gpu-a").content.decode()
    assert "No pool you see has any of it" in page
    assert "shared" not in page
    assert 'href="/classes/gpu-a/edit"' not in page
    assert "shared" in as_user(fleet.member).get("/classes/gpu-a").content.decode()


def test_a_class_without_a_rate_is_unrated_and_never_0(cast, as_user):
    make.make_class("npu-b", Kind.NPU)
    page = as_user(cast.member).get("/classes/npu-b").content.decode()
    assert "No rate was ever published" in page
    assert "unrated" in page
    assert "0.00" not in page


def test_runtimes_say_what_they_run_on(cast, as_user):
    declare_runtime(
        actor=None,
        key="torch",
        name={"en": "Torch"},
        driver_kind="local",
        kinds=["GPU"],
        framework="PyTorch",
        version="2",
        now=NOW,
    )
    page = as_user(cast.stranger).get("/runtimes").content.decode()
    assert "PyTorch" in page
    assert "every class of these kinds" in page


def test_data_is_for_whom_it_belongs_to(cast, as_user):
    facts = {"kind": "dataset", "created_at": NOW}
    DataSource.objects.create(name="of-alpha", project=cast.alpha, location="/data/a", cluster_key="site", **facts)
    DataSource.objects.create(name="of-models", team=cast.models, location="/data/m", **facts)
    DataSource.objects.create(name="of-vision", team=cast.vision, location="/data/v", cluster_key="gone", **facts)

    def shown(role: str) -> set[str]:
        page = as_user(cast.person(role)).get("/data").content.decode()
        return {name for name in ("of-alpha", "of-models", "of-vision") if name in page}

    assert shown("member") == {"of-alpha", "of-models"}
    assert shown("outsider") == {"of-vision"}
    assert shown("stranger") == shown("pool_admin") == set()
    assert shown("platform_admin") == {"of-alpha", "of-models", "of-vision"}
    page = as_user(cast.platform_admin).get("/data").content.decode()
    assert "not registered" in page
    assert "not said" in page
    assert "not observed" in page


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("query", ["q=%00", "page=-1", "sort=nonsense", "sort=-", "class=%27", "node=" + "é" * 3000])
def test_hostile_addresses_are_never_an_error(cast, as_user, path, query):
    assert as_user(cast.platform_admin).get(f"{path}?{query}").status_code == 200


@pytest.mark.parametrize(
    "path", ["/clusters", "/clusters/site", "/devices", "/nodes", "/pools", "/pools/shared", "/classes/gpu-a"]
)
def test_where_simulated_shows_the_ribbon_shows_too(fleet, as_user, path):
    client = as_user(fleet.platform_admin)
    assert 'class="ribbon"' not in client.get(path).content.decode()
    Cluster.objects.filter(key="site").update(simulated=True)
    assert 'class="ribbon"' in client.get(path).content.decode()


@pytest.mark.parametrize("path", [*LISTS, "/clusters/site", "/classes/cpu", "/pools/new", "/classes/cpu/rates/new"])
def test_pages_speak_both_languages(fleet, as_user, path):
    fleet.platform_admin.language = "zh-hans"
    fleet.platform_admin.save()
    assert '<html lang="zh-Hans">' in as_user(fleet.platform_admin).get(path).content.decode()
