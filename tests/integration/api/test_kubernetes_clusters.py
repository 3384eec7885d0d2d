"""Kubernetes clusters by the API: attach, look, rotate, remove; hostile values in every field are refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from resources.drivers.kubernetes.connection import Right
from resources.models import Cluster, ClusterCredential
from resources.selectors.connections import connection_of
from tests.cast import Cast
from tests.data import hostile
from tests.data.hostile import Hostile
from tests.integration.api.conftest import Api, As
from tests.unit.drivers.kubernetes_pki import SERVER, TOKEN, b64, config, issued

WHY = {"reason": "A new hall."}
NEW = {**WHY, "key": "east", "name": "East", "server": SERVER, "observer_token": TOKEN}
KUBECONFIG = (
    Hostile(json.dumps(config(user={"exec": {"command": "sh"}})), "starts a program"),
    Hostile(json.dumps(config(user={"auth-provider": {"name": "gcp"}})), "starts a program, the old way"),
    Hostile(json.dumps(config(user={"tokenFile": "/etc/passwd"})), "reads a file"),
    Hostile(json.dumps(config(cluster={"proxy-url": "http://169.254.169.254"})), "goes by a proxy"),
    Hostile(json.dumps(config(cluster={"insecure-skip-tls-verify": True})), "believes anybody"),
    Hostile(json.dumps(config(cluster={"server": "https://169.254.169.254"})), "metadata"),
    Hostile(json.dumps(config(cluster={"certificate-authority-data": b64("x" * 60_000)})), "no certificate"),
    Hostile("a: &a [x]\nb: [*a, *a]", "aliases"),
    Hostile("!!python/object/apply:os.system [true]", "a tag"),
    Hostile("[" * 100_000, "depth"),
    Hostile('{"a":' * 20_000, "depth"),
    Hostile("- " * 60_000, "depth"),
    Hostile("? " * 60_000, "depth"),
    Hostile("a: 'x" + "\\n" * 60_000, "a text without an end"),
    Hostile("a" * 131_072, "one word"),
    Hostile("\x00", "a control character"),
    *hostile.for_type("text"),
)
SERVERS = (
    *(bad for bad in hostile.for_type("url")),
    Hostile("https://127.0.0.1", "loopback"),
    Hostile("https://[::ffff:a9fe:a9fe]", "metadata in IPv6"),
    Hostile("https://2130706433", "loopback as a number"),
    Hostile("https://a.example/" + "x" * 250, "a path"),
)


def trimmed(bad: Hostile) -> bool:
    """Whether only outer spaces are wrong with it, or it is empty: this field takes both."""
    return isinstance(bad.value, str) and (not bad.value or bad.value.strip() != bad.value)


SECRETS = tuple(bad for bad in hostile.for_type("text") if bad.value != "")
FIELDS: list[tuple[str, tuple[Hostile, ...]]] = [
    ("key", hostile.for_type("slug")),
    ("name", hostile.for_type("name")),
    ("server", SERVERS),
    ("observer_token", SECRETS),
    ("authority", SECRETS),
    ("namespace", tuple(bad for bad in hostile.for_type("slug") if not trimmed(bad))),
    ("server_name", tuple(bad for bad in hostile.for_type("url") if not trimmed(bad))),
    ("kubeconfig_right", hostile.for_type("choice")),
]


@pytest.fixture
def admin(cast: Cast, as_user: As, settings: Any, tmp_path: Path) -> Api:
    settings.STATE_DIR = tmp_path
    api = as_user(cast.platform_admin)
    api.post("/kubernetes-clusters/preview", {"server": SERVER, "observer_token": TOKEN})
    return api


def send(api: Api, method: str, path: str, body: Any) -> Any:
    return api.client.generic(
        method, f"/api/v1{path}", json.dumps(body), content_type="application/json", headers=api.headers
    )


def test_a_cluster_is_previewed_attached_and_read_without_its_secret(admin: Api) -> None:
    text = json.dumps(config())
    seen = admin.post("/kubernetes-clusters/preview", {"kubeconfig": text})
    assert seen.status_code == 200 and not Cluster.objects.filter(driver="kubernetes").exists()
    told = seen.json()
    assert (told["server"], told["credentials"][0]["right"]) == (SERVER, "observer")
    assert "logs" in told["off"] and "inventory" not in told["off"]
    made = admin.post("/kubernetes-clusters", {**WHY, "key": "east", "name": "East", "kubeconfig": text})
    assert made.status_code == 201 and made.json()["driver"] == "kubernetes"
    read = admin.get("/clusters/east/access").json()
    assert [right["standing"] for right in read["rights"]] == ["not_asked", "absent", "absent"]
    assert read["authority"][0]["fingerprint"] == told["authority"][0]["fingerprint"]
    assert TOKEN not in seen.content.decode() + made.content.decode() + json.dumps(read)
    assert admin.post("/kubernetes-clusters", NEW).json()["fields"][0]["reason"] == "Taken"


def test_credentials_are_rotated_and_removed(admin: Api) -> None:
    admin.post("/kubernetes-clusters", NEW)
    path = "/clusters/east/credentials/runner"
    certificate, key = issued("client")
    assert send(admin, "PUT", path, {**WHY, "certificate": certificate, "key": key}).status_code == 200
    assert connection_of(Cluster.objects.get(key="east")).credentials[Right.RUNNER].certificate_pem == certificate
    assert send(admin, "PUT", path, {**WHY, "token": "short"}).json()["fields"][0]["field"] == "token"
    assert send(admin, "PUT", path, WHY).status_code == 422
    assert send(admin, "PUT", "/clusters/east/credentials/root", {**WHY, "token": TOKEN}).status_code == 404
    assert send(admin, "PUT", "/clusters/site/credentials/runner", {**WHY, "token": TOKEN}).status_code == 409
    assert admin.delete(f"{path}?reason=Gone").status_code == 204
    assert ClusterCredential.objects.filter(cluster__key="east").count() == 1


def test_a_cluster_that_needs_a_connection_is_not_registered_without(admin: Api) -> None:
    body = {**WHY, "key": "east", "name": "East", "driver": "kubernetes"}
    assert admin.post("/clusters", body).json()["fields"][0]["reason"] == "ConnectionMissing"


def test_manifests_are_text(admin: Api) -> None:
    answer = admin.get("/cluster-roles/runner", {"namespace": "team-a"})
    assert answer["Content-Type"].startswith("text/plain") and b"namespace: team-a" in answer.content
    assert admin.get("/cluster-roles/runner", {"namespace": "kube-system"}).status_code == 422
    assert admin.get("/cluster-roles/root").status_code == 404


@pytest.mark.parametrize(("field", "values"), FIELDS, ids=[field for field, _values in FIELDS])
def test_hostile_values_are_refused_by_name(admin: Api, field: str, values: tuple[Hostile, ...]) -> None:
    for bad in values:
        refused(admin, bad, {**NEW, field: bad.value}, field)


def test_hostile_kubeconfigs_are_refused_at_once(admin: Api) -> None:
    for bad in KUBECONFIG:
        refused(admin, bad, {**WHY, "key": "east", "name": "East", "kubeconfig": bad.value}, "kubeconfig")


def refused(api: Api, bad: Hostile, body: dict[str, Any], field: str) -> None:
    """422 that names the field (400 where JSON itself cannot say it), within the bound of time, once in three."""
    for last in (False, False, True):
        try:
            with hostile.told(bad):
                answer = api.post("/kubernetes-clusters", body)
            break
        except AssertionError:
            if last:
                raise
    assert answer.status_code in (400, 413, 422), (bad.why, answer.content[:200])
    if answer.status_code == 422:
        assert field in {one["field"] for one in answer.json()["fields"]}, (bad.why, answer.content[:300])
    assert not Cluster.objects.filter(driver="kubernetes").exists(), bad.why
