"""Serves a checkpoint over HTTP: a health path for the portal, and POST /predict for those with the token.

POST /predict {"rows": [[number, …], …]} answers {"labels": […], "probabilities": […], "model": sha256}.
TERM: no new connections, open requests are answered, exit 0. One connection carries one request.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
from portal_contract import (
    INDEX,
    STOPPING,
    Failure,
    bad_parameters,
    digest,
    folder,
    input_path,
    log,
    publish,
    run,
    write_json,
)
from portal_network import load_checkpoint, probability

MAX_BODY = 1 << 20
MAX_ROWS = 10_000
MAX_REQUESTS_AT_ONCE = 32
SOCKET_PATIENCE = 10.0
"""Seconds a client may stay silent."""


class Refused(Exception):
    """A request that is answered with a status, a reason and a sentence."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message


class Service(ThreadingHTTPServer):
    """The model and the counts of its use."""

    daemon_threads = False  # a drained service has answered what it took on
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], model_path: Path, token_sha256: str) -> None:
        about, self.model = load_checkpoint(model_path)
        self.features, self.model_digest = about["features"], digest(model_path)
        self.token_sha256, self.health_path = token_sha256, os.environ.get("PORTAL_HEALTH_PATH", "/healthz")
        self.slots = threading.Semaphore(MAX_REQUESTS_AT_ONCE)
        self.counting, self.counts = threading.Lock(), {"answered": 0, "refused": 0, "rows": 0, "busy_us": 0}
        super().__init__(address, Handler)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Room for one of a bounded number of predictions at once. Raises Refused when there is none for long."""
        if not self.slots.acquire(timeout=SOCKET_PATIENCE):
            raise Refused(503, "Busy", f"More than {MAX_REQUESTS_AT_ONCE} requests at once.")
        try:
            yield
        finally:
            self.slots.release()

    def count(self, **more: int) -> None:
        """Add to the counts."""
        with self.counting:
            for name, value in more.items():
                self.counts[name] += value

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A broken connection is one log line, not a traceback."""
        log(f"connection from {client_address[0]} failed: {sys.exc_info()[1]!r}")


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Service
    timeout = SOCKET_PATIENCE
    server_version, sys_version = "model", ""

    def do_GET(self) -> None:
        """The health path answers anyone who may reach the port; nothing else is to be read."""
        if self.path == self.server.health_path:
            self.answer(200, {"status": "ok", "model": self.server.model_digest})
        else:
            self.answer(404, {"reason": "NotFound", "message": "There is nothing here."})

    def do_POST(self) -> None:
        """A prediction, or a refusal in JSON."""
        try:
            body = self.read_body()
            with self.server.slot():
                self.answer(200, self.predict(body))
        except Refused as refused:
            self.server.count(refused=1)
            self.answer(refused.status, {"reason": refused.reason, "message": refused.message})

    def predict(self, body: bytes) -> dict[str, Any]:
        """Token first, then path, then content."""
        began = time.monotonic_ns()
        self.require_token()
        if self.path != "/predict":
            raise Refused(404, "NotFound", "There is only /predict.")
        rows = read_rows(body, self.server.features)
        chance = probability(self.server.model, np.array(rows, dtype=np.float64))
        if not np.isfinite(chance).all():
            raise Refused(400, "BadRow", "The numbers are too large for this model.")
        labels, probabilities = [int(value > 0.5) for value in chance], [round(float(value), 6) for value in chance]
        self.server.count(answered=1, rows=len(rows), busy_us=(time.monotonic_ns() - began) // 1000)
        return {"labels": labels, "probabilities": probabilities, "model": self.server.model_digest}

    def require_token(self) -> None:
        """The bearer token's digest must be the one the portal named; compared in constant time."""
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        given = hashlib.sha256(token.encode("latin-1")).hexdigest()  # the bytes as sent: headers are read as latin-1
        if not hmac.compare_digest(given, self.server.token_sha256) or scheme.lower() != "bearer":
            raise Refused(401, "NotAuthenticated", "A project token is needed: Authorization: Bearer …")

    def read_body(self) -> bytes:
        """The whole body, if it says its length and is small enough.

        A body that is refused is read all the same, up to a limit: closing on unread bytes would reset the
        connection, and the client would never see why.
        """
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not re.fullmatch(r"[0-9]{1,18}", length, re.ASCII):
            raise Refused(411, "LengthRequired", "Send the body's length in Content-Length.")
        size = int(length)
        if size > MAX_BODY:
            for _ in range(0, min(size, 16 * MAX_BODY), MAX_BODY):
                self.rfile.read(min(size, MAX_BODY))
                size -= MAX_BODY
            raise Refused(413, "TooLarge", f"The body has {length} bytes; at most {MAX_BODY} are taken.")
        return self.rfile.read(size)

    def answer(self, status: int, content: dict[str, Any]) -> None:
        """A JSON answer that ends the connection."""
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 401:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are counted; only what is not a success is a line: health checks would drown the log."""
        if len(args) > 1 and str(args[1]) != "200":
            log(f"request {format % args!a}")


def read_rows(body: bytes, features: int) -> list[list[float]]:
    """The rows of a request: lists of finite numbers, as many as the model has features."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "NotJson", "The body is not JSON.") from error
    rows = content.get("rows") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_ROWS:
        raise Refused(400, "BadRows", f'Send {{"rows": [[…], …]}} with 1 to {MAX_ROWS} rows.')
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, list) or len(row) != features or not all(map(is_number, row)):
            raise Refused(400, "BadRow", f"Row {number} must be a list of {features} finite numbers.")
    return rows


def is_number(value: Any) -> bool:
    """A finite JSON number that a double can hold; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max if isinstance(value, int) else math.isfinite(value)


def report(service: Service) -> None:
    """What this replica served, kept after its end."""
    output = folder("PORTAL_OUTPUT_DIR")
    path = output / f"service-{INDEX}.json"
    write_json(path, service.counts | {"model": service.model_digest, "replica": INDEX})
    publish({path.stem: ("result", path)})
    log(f"served answered={service.counts['answered']} refused={service.counts['refused']}")


def main() -> None:
    """Serve until TERM."""
    token_sha256 = os.environ.get("PORTAL_TOKEN_SHA256", "").lower()
    if not re.fullmatch(r"[0-9a-f]{64}", token_sha256):
        raise bad_parameters("PORTAL_TOKEN_SHA256 is not a SHA-256: no service without a token")
    port = os.environ.get("PORTAL_PORT", "")
    if not re.fullmatch(r"[0-9]{1,5}", port) or not 0 < int(port) < 65_536:
        raise bad_parameters(f"PORTAL_PORT must be 1 to 65535, not {port!r}")
    address = (os.environ.get("PORTAL_BIND_HOST") or "127.0.0.1", int(port))
    model_path = input_path("checkpoint")
    try:
        service = Service(address, model_path, token_sha256)
    except OSError as error:
        raise Failure(69, "CannotListen", f"{address[0]}:{address[1]}: {error}") from error
    serving = threading.Thread(target=service.serve_forever, args=(0.05,))
    serving.start()
    log(f"listening on {address[0]}:{address[1]} features={service.features} model={service.model_digest}")
    STOPPING.wait()
    log("draining")
    service.shutdown()
    serving.join()
    service.server_close()  # waits for the requests in hand
    report(service)


if __name__ == "__main__":
    run(main)
