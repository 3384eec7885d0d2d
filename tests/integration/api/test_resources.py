"""The fleet and the catalogue over the API: the same rules, words and numbers as the pages have."""

import json

from jobs.states import JobState
from resources.models import DataSource, Device, DeviceGroup, Node, Pool, RateVersion, ResourceClass
from resources.models.catalogue import Kind
from resources.services.declare_runtime import declare_runtime
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import CARD, NOW
from tests.cast import Cast
from tests.integration.api.conftest import ROOT, Api, As

WHY = "A new hall."


def send(api: Api, method: str, path: str, body: dict[str, object]) -> tuple[int, dict]:
    """Status and answer of a request with a body."""
    sent = {"data": json.dumps(body), "content_type": "application/json", "headers": api.headers}
    answer = api.client.generic(method, ROOT + path, **sent)
    return answer.status_code, json.loads(answer.content or b"{}")


def test_a_pool_is_tried_made_changed_and_deleted(cast: Cast, as_user: As) -> None:
    make.make_node("e1", cast.cluster, labels={"zone": "east"})
    api = as_user(cast.platform_admin)
    status, tried = send(api, "POST", "/pools/other/preview", {"selector": {"zone": "east"}})
    assert (status, [move["name"] for move in tried["joins"]], tried["leaves"]) == (200, ["e1"], [])
    new = {"key": "east", "name": {"en": "East"}, "selector": {"zone": "east"}, "reason": WHY}
    status, made = send(api, "POST", "/pools", new)
    assert (status, made["key"], made["nodes"]) == (201, "east", 1)
    status, refused = send(api, "POST", "/pools", new)
    assert (status, refused["fields"][0]["field"], refused["fields"][0]["reason"]) == (422, "key", "Taken")
    status, changed = send(api, "PATCH", "/pools/east", {"selector": {}, "reason": "Empty it."})
    assert (status, changed["nodes"]) == (200, 0)
    assert api.client.delete(f"{ROOT}/pools/east", headers=api.headers).status_code == 422
    assert api.client.delete(f"{ROOT}/pools/east?reason=Done", headers=api.headers).status_code == 204
    verbs = AuditEvent.objects.filter(target_name="east").order_by("seq").values_list("verb", "note")
    assert list(verbs) == [("pool.created", WHY), ("pool.changed", "Empty it."), ("pool.deleted", "Done")]


def test_a_pool_in_use_says_what_uses_it(cast: Cast, as_user: As) -> None:
    answer = as_user(cast.platform_admin).client.delete(
        f"{ROOT}/pools/shared?reason=x", headers=as_user(cast.platform_admin).headers
    )
    problem = json.loads(answer.content)
    assert (answer.status_code, problem["reason"]) == (409, "PoolInUse")
    assert problem["facts"] == {"pool": "shared", "nodes": 1, "grants": 1, "cells": 0, "members": 1, "jobs": 0}
    assert Pool.objects.filter(key="shared").exists()


def test_a_node_is_cordoned_and_comes_back(cast: Cast, as_user: As) -> None:
    api, path = as_user(cast.pool_admin), f"/nodes/{cast.node.pk}/stage"
    status, held = send(api, "POST", path, {"stage": "cordoned", "reason": WHY})
    assert (status, held["stage"], held["state"]) == (200, "cordoned", "cordoned")
    status, back = send(api, "POST", path, {"stage": "", "reason": WHY})
    assert (status, back["stage"]) == (200, "schedulable")
    assert send(api, "POST", path, {"stage": "cordoned", "reason": " "})[0] == 422
    job = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING)
    make.make_allocation(job, cast.node, reserved=NOW, bound=NOW, started=NOW)
    status, problem = send(api, "POST", path, {"stage": "retired", "reason": WHY})
    assert (status, problem["reason"], problem["facts"]["jobs"]) == (409, "NodeInUse", 1)


def test_devices_are_listed_once_with_their_use(cast: Cast, as_user: As) -> None:
    make.make_node("g1", cast.cluster, cast.shared, cards=3, card_class=make.make_class("gpu-a", Kind.GPU))
    make.make_node("g2", cast.cluster, cast.other, cards=1)
    Device.objects.filter(uuid="g1-1").update(healthy=False, detail="ECC error")
    rows = as_user(cast.platform_admin).get("/devices").json()["results"]
    assert sorted((row["uuid"], row["class_key"], row["use"]) for row in rows) == [
        ("g1-0", "gpu-a", "free"),
        ("g1-1", "gpu-a", "out"),
        ("g1-2", "gpu-a", "free"),
        ("g2-0", None, "out"),
    ]
    assert [
        row["uuid"] for row in as_user(cast.platform_admin).get("/devices", {"class_key": "-"}).json()["results"]
    ] == ["g2-0"]
    assert len(as_user(cast.pool_admin).get("/devices").json()["results"]) == 3


def test_a_class_is_defined_matched_rated_and_retired(cast: Cast, as_user: As) -> None:
    make.make_node("g1", cast.cluster, cast.shared, cards=2)
    api = as_user(cast.platform_admin)
    new = {"key": "a80", "kind": "GPU", "name": {"en": "A80"}, "match": {"model": "Model A"}, "reason": WHY}
    status, made = send(api, "POST", "/classes", new | {"memory_bytes": 80 << 30})
    assert (status, made["resource"], made["rate"], made["memory_bytes"]) == (201, "device", None, 80 << 30)
    assert DeviceGroup.objects.get().resource_class == ResourceClass.objects.get(key="a80")
    status, tried = send(api, "POST", "/classes/a80/preview", {"match": {}})
    assert (status, tried["moves"][0]["from_class"], tried["moves"][0]["to_class"]) == (200, "a80", None)
    status, problem = send(api, "POST", "/classes/a80/retire", {"reason": WHY})
    assert (status, problem["reason"]) == (409, "ClassInUse")
    rate = {"price_micro": 5_000_000, "weight_micro": None, "reason": WHY}
    status, published = send(api, "POST", "/classes/a80/rates", rate)
    assert (status, published["price_micro"], published["weight_micro"]) == (201, 5_000_000, None)
    status, refused = send(api, "POST", "/classes/a80/rates", rate | {"valid_from": "2026-11-01T00:00:00Z"})
    assert (status, refused["fields"][0]["reason"]) == (422, "InThePast")
    assert RateVersion.objects.filter(class_key="a80").count() == 1
    status, changed = send(api, "PATCH", "/classes/a80", {"match": {}, "memory_bytes": 0, "reason": WHY})
    assert (status, changed["match"], changed["memory_bytes"]) == (200, {}, None)
    assert send(api, "POST", "/classes/a80/retire", {"reason": WHY})[0] == 200
    assert [row["key"] for row in api.get("/classes", {"retired": "true"}).json()["results"]] == ["a80"]


def test_a_cluster_shows_its_nodes_by_stage(cast: Cast, as_user: As) -> None:
    make.make_node("g1", cast.cluster, cast.shared, cards=2, stage=Node.Stage.CORDONED)
    body = as_user(cast.platform_admin).get("/clusters/site").json()
    assert body["stages"] == [{"stage": "schedulable", "nodes": 1}, {"stage": "cordoned", "nodes": 1}]
    assert (body["pools"], body["jobs"], body["cluster"]["key"]) == (["shared"], 0, "site")
    cards = next(row for row in body["classes"] if row["resource"] == "device")
    assert (cards["installed"], cards["usable"], cards["out"]) == (2 * CARD, 0, 2 * CARD)


def test_runtimes_and_data_say_what_they_are_for(cast: Cast, as_user: As) -> None:
    facts = {"driver_kind": "local", "kinds": ["CPU"], "framework": "PyTorch", "version": "2", "now": NOW}
    runtime = declare_runtime(actor=None, key="torch", name={"en": "Torch"}, **facts)
    runtime.classes.add(cast.cpu)
    (row,) = as_user(cast.stranger).get("/runtimes").json()["results"]
    assert (row["key"], row["kinds"], row["classes"]) == ("torch", ["CPU"], ["cpu"])
    DataSource.objects.create(name="scenes", project=cast.alpha, kind="dataset", location="/data/a", created_at=NOW)
    (row,) = as_user(cast.member).get("/data-sources").json()["results"]
    assert (row["name"], row["cluster"], row["bytes"]) == ("scenes", "", None)
    assert as_user(cast.outsider).get("/data-sources").json()["results"] == []
