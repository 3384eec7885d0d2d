"""Every fault of the proxy, as clients see it; and its record of what passed."""

import json
import ssl
import threading
import time

import pytest
import urllib3
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from controlplane import faults
from controlplane.api import Refused
from controlplane.faultproxy import FaultProxy
from tests.cluster.waiting import until
from tests.cluster.workloads import JOBS, get_job, job

NODES = "/api/v1/nodes"


@pytest.fixture
def ask(fault_proxy, control_plane, admin_token):
    """One request through the proxy: its response, read whole."""
    pool = urllib3.PoolManager(ca_certs=str(control_plane.folder.pki / "ca.crt"), retries=False)

    def send(path, method="GET", *, body=None, timeout=5.0, **options):
        headers = {"Authorization": f"Bearer {admin_token}", "Content-Type": "application/json"}
        url = fault_proxy.url + path
        content = json.dumps(body).encode() if body is not None else None
        return pool.request(method, url, body=content, headers=headers, timeout=timeout, **options)

    return send


def test_without_a_rule_everything_passes(ask, api):
    names = {node["metadata"]["name"] for node in ask(NODES).json()["items"]}
    assert {"gpu-1", "npu-1"} <= names
    assert ask("/api/v1/namespaces/none-such").status == 404


def test_without_a_token_nobody_is_let_in(fault_proxy, control_plane):
    pool = urllib3.PoolManager(ca_certs=str(control_plane.folder.pki / "ca.crt"), retries=False)
    assert pool.request("GET", fault_proxy.url + NODES).status == 403


def test_a_hanging_answer_ends_in_the_clients_time_out(ask, fault_proxy):
    rule = fault_proxy.add(faults.hang(), "/nodes")
    begin = time.monotonic()
    with pytest.raises(urllib3.exceptions.ReadTimeoutError):
        ask(NODES, timeout=0.5)
    assert 0.4 < time.monotonic() - begin < 3
    assert rule.met == 1


def test_a_dripping_answer_keeps_every_single_read_short_and_never_ends(ask, fault_proxy):
    fault_proxy.add(faults.drip(0.05), "/nodes")
    response = ask(NODES, timeout=1.0, preload_content=False)
    begin, got = time.monotonic(), b""
    while time.monotonic() - begin < 1.5:
        got += response.read(1)
    response.close()
    assert 5 < len(got) < 40
    assert b'{"kind":"NodeList"'.startswith(got[:10])


@pytest.mark.parametrize(
    ("fault", "status", "retry_after"),
    [
        (faults.too_many_requests(), 429, None),
        (faults.too_many_requests(7), 429, "7"),
        (faults.gone(), 410, None),
        (faults.internal_error(), 500, None),
        (faults.unavailable(), 503, None),
    ],
)
def test_a_refusal_is_a_status_object_with_its_code(ask, fault_proxy, fault, status, retry_after):
    fault_proxy.add(fault, "/nodes")
    response = ask(NODES)
    assert (response.status, response.json()["code"]) == (status, status)
    assert response.headers.get("Retry-After") == retry_after


def test_the_official_client_meets_the_same_refusal(fault_proxy, through_proxy):
    fault_proxy.add(faults.internal_error(), "/nodes", times=1)
    core = client.CoreV1Api(through_proxy)
    with pytest.raises(ApiException) as refused:
        core.list_node()
    assert refused.value.status == 500
    assert len(core.list_node().items) >= 5


@pytest.mark.parametrize("status", [200, 502])
def test_a_page_for_people_is_no_json(ask, fault_proxy, status):
    fault_proxy.add(faults.html(status), "/nodes")
    response = ask(NODES)
    assert response.status == status
    assert response.headers["Content-Type"] == "text/html"
    with pytest.raises(ValueError):
        response.json()


def test_truncated_json_comes_as_a_whole_answer_and_does_not_parse(ask, fault_proxy):
    whole = ask(NODES).data
    fault_proxy.add(faults.truncated(), "/nodes")
    response = ask(NODES)
    assert response.status == 200
    assert abs(len(response.data) - len(whole) // 2) < 200
    with pytest.raises(ValueError):
        response.json()


def test_a_half_list_leaves_items_out_without_a_word(ask, fault_proxy):
    whole = ask(NODES).json()["items"]
    fault_proxy.add(faults.items_missing(), "/nodes")
    half = ask(NODES).json()["items"]
    assert len(half) == (len(whole) + 1) // 2


def test_the_second_page_of_a_list_is_gone(ask, fault_proxy):
    fault_proxy.add(faults.continue_gone(), "/nodes")
    first = ask(f"{NODES}?limit=2")
    assert (first.status, len(first.json()["items"])) == (200, 2)
    token = first.json()["metadata"]["continue"]
    second = ask(f"{NODES}?limit=2&continue={token}")
    assert (second.status, second.json()["reason"]) == (410, "Expired")


def test_a_silent_watch_opens_and_says_nothing_while_things_change(ask, fault_proxy, api, namespace):
    path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1"
    heard = _listen(ask, path, api, namespace, "one")
    assert b"one" in heard
    fault_proxy.add(faults.silent_watch(), "watch=1")
    assert _listen(ask, path, api, namespace, "two") == b""


def _listen(ask, path, api, namespace, name) -> bytes:
    """What a watch says within a second in which a ConfigMap is made."""
    response = ask(path, timeout=urllib3.Timeout(connect=2, read=1.0), preload_content=False)
    assert response.status == 200
    api.create(f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": name}})
    heard = b""
    try:
        while piece := response.read1():
            heard += piece
    except urllib3.exceptions.ReadTimeoutError:
        pass
    response.close()
    return heard


def test_a_rewound_version_is_older_than_the_true_one(ask, fault_proxy):
    true = int(ask(NODES).json()["metadata"]["resourceVersion"])
    fault_proxy.add(faults.rewound("3"), "/nodes")
    assert int(ask(NODES).json()["metadata"]["resourceVersion"]) == 3 < true


def test_an_endless_body_is_sent_until_the_client_has_had_enough(ask, fault_proxy):
    fault_proxy.add(faults.endless(), "/nodes")
    response = ask(NODES, preload_content=False)
    got = 0
    while got < 32 * 1024**2:
        got += len(response.read(1024**2))
    response.close()
    assert got >= 32 * 1024**2


def test_an_endless_body_is_bounded(ask, fault_proxy):
    fault_proxy.add(faults.endless(4 * 1024**2), "/nodes")
    response = ask(NODES, preload_content=False)
    with pytest.raises(urllib3.exceptions.ProtocolError):
        while response.read(1024**2):
            pass


def test_a_cut_connection_leaves_no_trace_on_the_server(ask, fault_proxy, api, namespace):
    fault_proxy.add(faults.disconnect(), "/jobs", methods="POST")
    with pytest.raises((urllib3.exceptions.ProtocolError, urllib3.exceptions.SSLError, ssl.SSLError)):
        ask(JOBS.format(namespace), "POST", body=job("never", suspend=True))
    with pytest.raises(Refused):
        get_job(api, namespace, "never")
    assert fault_proxy.creates("/jobs") == []


def test_a_lost_answer_hides_a_job_that_was_made_and_the_record_knows_it(ask, fault_proxy, api, namespace):
    fault_proxy.add(faults.lose_answer(), "/jobs", methods="POST", times=1)
    with pytest.raises((urllib3.exceptions.ProtocolError, urllib3.exceptions.SSLError, ssl.SSLError)):
        ask(JOBS.format(namespace), "POST", body=job("once", suspend=True))
    assert get_job(api, namespace, "once")["metadata"]["name"] == "once"
    assert ask(JOBS.format(namespace), "POST", body=job("once", suspend=True)).status == 409
    (created,) = fault_proxy.creates("/jobs")
    assert (created.name, created.status) == ("once", 201)


def test_deletions_are_recorded_too(ask, fault_proxy, api, namespace):
    assert ask(JOBS.format(namespace), "POST", body=job("brief", suspend=True)).status == 201
    assert ask(f"{JOBS.format(namespace)}/brief", "DELETE").status == 200
    assert ask(f"{JOBS.format(namespace)}/brief", "DELETE").status in (200, 404)
    assert fault_proxy.deletes("/jobs/")[0].path.endswith("/jobs/brief")


def test_a_rule_meets_only_its_method_and_path_only_so_often_and_only_then(ask, fault_proxy):
    rule = fault_proxy.add(faults.internal_error(), r"/nodes\?", methods="GET", times=2, after=1)
    assert [ask(f"{NODES}?limit=1").status for _ in range(5)] == [200, 500, 500, 200, 200]
    assert ask(NODES).status == 200
    assert (rule.met, rule.seen) == (2, 5)


def test_healing_ends_what_hangs_and_lets_everything_pass(ask, fault_proxy):
    fault_proxy.add(faults.hang(60))
    ended = threading.Event()

    def hang() -> None:
        with pytest.raises(urllib3.exceptions.HTTPError):
            ask(NODES, timeout=30)
        ended.set()

    thread = threading.Thread(target=hang, daemon=True)
    thread.start()
    until(lambda: fault_proxy.requests)
    fault_proxy.heal()
    assert ended.wait(5)
    assert ask(NODES).status == 200


def test_a_proxy_that_has_ended_no_longer_listens(control_plane):
    with FaultProxy(control_plane.ports.server, control_plane.folder.pki) as proxy:
        proxy.add(faults.hang(60))
    pool = urllib3.PoolManager(ca_certs=str(control_plane.folder.pki / "ca.crt"), retries=False)
    with pytest.raises(urllib3.exceptions.HTTPError):
        pool.request("GET", f"{proxy.url}/healthz", timeout=2)
