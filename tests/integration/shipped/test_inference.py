"""The service answers who has the token, refuses everybody and everything else, and drains on TERM."""

import hashlib
import http.client
import json
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data import hostile
from tests.integration.shipped.programs import Attempt, Job

TOKEN = "tok-démo-令牌"  # not ASCII: its bytes are compared
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Service:
    """A running replica and how to call it."""

    def __init__(self, checkpoint: Path, root: Path) -> None:
        self.port = _free_port()
        environment = {
            "PORTAL_TOKEN_SHA256": DIGEST,
            "PORTAL_PORT": str(self.port),
            "PORTAL_HEALTH_PATH": "/healthz",
        }
        self.job = Job("inference", root, {}, {"checkpoint": checkpoint}, environment=environment)
        self.attempt: Attempt = self.job.start()
        self.attempt.wait_for("listening on")

    def call(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            assert answer.headers["Content-Type"] == "application/json"
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def predict(self, rows: Any) -> tuple[int, Any]:
        return self.call("POST", "/predict", json.dumps({"rows": rows}).encode(), **AUTHORISED)


AUTHORISED = {"Authorization": "Bearer " + TOKEN.encode().decode("latin-1")}


@pytest.fixture(scope="module")
def service(checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for the module; it must still drain and report at the end."""
    service = Service(checkpoint, tmp_path_factory.mktemp("service"))
    yield service
    service.attempt.signal(signal.SIGTERM)
    ended = service.attempt.wait().succeeded()
    assert "draining" in ended.out
    assert ended.err == ""
    assert set(service.job.artifacts()) == {"service-0"}


def _held_out(dataset: Path) -> Any:
    return np.concatenate([np.load(path) for path in sorted(dataset.glob("*-held-out.npy"))])


def test_health_needs_no_token_and_names_the_model(service: Service, checkpoint: Path) -> None:
    model = hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    assert service.call("GET", "/healthz") == (200, {"status": "ok", "model": model})


def test_it_predicts_the_held_out_rows_it_was_evaluated_on(service: Service, dataset: Path) -> None:
    held = _held_out(dataset)
    status, answer = service.predict(held[:, :-1].tolist())
    assert status == 200
    assert np.mean(np.array(answer["labels"]) == held[:, -1]) > 0.8
    assert all((chance > 0.5) == label for chance, label in zip(answer["probabilities"], answer["labels"], strict=True))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {DIGEST}"},
        {"Authorization": AUTHORISED["Authorization"].replace("Bearer", "Basic")},
        {"Authorization": AUTHORISED["Authorization"] + " more"},
        {"Authorization": "Bearer \xff\x00"},
    ],
)
def test_without_the_token_nothing_is_predicted(service: Service, headers: dict[str, str]) -> None:
    body = json.dumps({"rows": [[0, 0, 0, 0]]}).encode()
    status, answer = service.call("POST", "/predict", body, **headers)
    assert (status, answer["reason"]) == (401, "NotAuthenticated")


def test_hostile_bodies_are_refused_and_the_service_lives(service: Service) -> None:
    for bad in hostile.for_type("json"):
        status, answer = service.call("POST", "/predict", bad.value, **AUTHORISED)
        assert status in (400, 411, 413), bad.why
        assert answer["reason"] and answer["message"]
    assert service.call("GET", "/healthz")[0] == 200


@pytest.mark.parametrize(
    "rows",
    [[], [[]], [[1, 2, 3]], [[1, 2, 3, 4, 5]], [1, 2, 3, 4], [[1, 2, 3, "4"]], [[1, 2, 3, True]], [[1, 2, 3, None]],
     [[1, 2, 3, float("nan")]], [[1, 2, 3, float("inf")]], [[1, 2, 3, 10**400]], "rows", None, {"0": [1, 2, 3, 4]},
     [[1, 2, 3, 4]] * 10_001],
)  # fmt: skip
def test_hostile_rows_are_refused_with_a_reason(service: Service, rows: Any) -> None:
    status, answer = service.predict(rows)
    assert status == 400
    assert answer["reason"] in ("BadRows", "BadRow")


def test_extreme_numbers_are_answered_or_refused_never_answered_with_nan(service: Service) -> None:
    status, answer = service.predict([[1e100, 0, 0, 0], [10**100, 0, 0, 0]])
    assert (status, len(answer["labels"])) == (200, 2)
    status, answer = service.predict([[1.7e308, 1.7e308, 0, 0]])
    assert (status, answer["reason"]) == (400, "BadRow")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 404), ("GET", "/predict", 404), ("GET", "/../etc/passwd", 404), ("POST", "/other", 404)],
)
def test_there_is_nothing_else(service: Service, method: str, path: str, status: int) -> None:
    assert service.call(method, path, b"{}" if method == "POST" else b"", **AUTHORISED)[0] == status


def test_a_body_without_length_is_refused(service: Service) -> None:
    headers = AUTHORISED | {"Transfer-Encoding": "chunked"}
    status, answer = service.call("POST", "/predict", b"0\r\n\r\n", **headers)
    assert (status, answer["reason"]) == (411, "LengthRequired")


def test_term_answers_the_request_in_hand_and_counts_what_was_served(checkpoint: Path, tmp_path: Path) -> None:
    service = Service(checkpoint, tmp_path)
    body = json.dumps({"rows": [[0.1, 0.2, 0.3, 0.4]]}).encode()
    head = (
        f"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
        f"Authorization: {AUTHORISED['Authorization']}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as client:
        client.sendall(head.encode("latin-1") + body[:5])
        assert service.call("GET", "/healthz")[0] == 200  # so the other request was taken on before
        service.attempt.signal(signal.SIGTERM)
        service.attempt.wait_for("draining")
        client.sendall(body[5:])
        answer = client.makefile("rb").read()
    assert b" 200 " in answer.splitlines()[0]
    service.attempt.wait().succeeded()
    counts = json.loads((service.job.output / "service-0.json").read_bytes())
    assert (counts["answered"], counts["rows"], counts["refused"]) == (1, 1, 0)


def test_a_taken_port_is_told_in_one_line(service: Service, checkpoint: Path, tmp_path: Path) -> None:
    environment = {"PORTAL_TOKEN_SHA256": DIGEST, "PORTAL_PORT": str(service.port)}
    ended = Job("inference", tmp_path, {}, {"checkpoint": checkpoint}, environment=environment).run()
    assert ended.codes == [69]
    assert ended.err.startswith("error: CannotListen: ")


def test_without_a_token_digest_it_does_not_serve(checkpoint: Path, tmp_path: Path) -> None:
    environment = {"PORTAL_TOKEN_SHA256": "", "PORTAL_PORT": str(_free_port())}
    ended = Job("inference", tmp_path, {}, {"checkpoint": checkpoint}, environment=environment).run()
    assert ended.codes == [64]
    assert "PORTAL_TOKEN_SHA256" in ended.err
