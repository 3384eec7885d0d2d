"""A proxy before an API server that goes wrong on demand, and records every write that passed.

It listens on loopback with the cluster's own certificate. A client's token is passed on; a client certificate is not,
for it ends at the proxy.
"""

import contextlib
import http.client
import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from controlplane.faults import Fault, Rule

LOOPBACK = "127.0.0.1"
CHUNK = 65_536
# A request that nobody ends: longer than any client of ours waits, short enough to go away by itself.
LONGEST_SECONDS = 700.0
NOT_PASSED_ON = frozenset(
    {"connection", "keep-alive", "transfer-encoding", "content-length", "host", "accept-encoding"}
)
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class Passed:
    """A write that reached the API server, with its answer, also when the client never got it."""

    method: str
    path: str
    status: int
    name: str


class FaultProxy:
    """`with FaultProxy(server, pki) as proxy:` listens at `proxy.url` until the end of the block."""

    def __init__(self, server: str, pki: Path) -> None:
        address = urlsplit(server)
        self.upstream = (address.hostname or LOOPBACK, address.port or 443)
        self.trust = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        self.rules: list[Rule] = []
        self.passed: list[Passed] = []
        self.requests: list[tuple[str, str]] = []
        self.stopped = threading.Event()
        self.ahead_s = 0.0
        """By how much the whole cluster's clock seems to be ahead: in the date of answers and in every time in them."""
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = ThreadingHTTPServer((LOOPBACK, 0), handler)
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "serving.crt", pki / "serving.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://{LOOPBACK}:{self._server.server_port}"

    def __enter__(self) -> "FaultProxy":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def add(self, fault: Fault, path: str = "", *, methods: str = "", times: int | None = None, after: int = 0) -> Rule:
        """From now on such requests get the fault; the newest rule that meets a request wins.

        `path` is a regular expression searched in path and query; `methods` e.g. "POST DELETE".
        """
        rule = Rule(fault, path, tuple(methods.split()), times, after)
        with self._lock:
            self.rules.insert(0, rule)
        return rule

    def heal(self) -> None:
        """Forget all rules: from now on everything passes. Answers that hang now end at once."""
        with self._lock:
            self.rules.clear()
        self.stopped.set()
        self.stopped = threading.Event()

    def creates(self, collection: str = "") -> list[Passed]:
        """The successful creations that passed, of paths that end so (e.g. `/jobs`)."""
        return [p for p in self.passed if p.method == "POST" and p.status == 201 and p.path.endswith(collection)]

    def deletes(self, part: str = "") -> list[Passed]:
        """The successful deletions that passed, of paths that contain the text (e.g. `/jobs/`)."""
        return [p for p in self.passed if p.method == "DELETE" and p.status < 300 and part in p.path]

    def fault_for(self, method: str, target: str) -> Fault | None:
        """The fault of this request, if any."""
        with self._lock:
            self.requests.append((method, target))
            rules = list(self.rules)
        return next((rule.fault for rule in rules if rule.meets(method, target)), None)

    def record(self, method: str, target: str, status: int, answer: bytes) -> None:
        """Note a write that passed."""
        if method in WRITES:
            with contextlib.suppress(ValueError, AttributeError):
                name = json.loads(answer).get("metadata", {}).get("name", "")
                with self._lock:
                    self.passed.append(Passed(method, urlsplit(target).path, status, name))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = LONGEST_SECONDS
    proxy: FaultProxy

    def do_GET(self) -> None:
        """Any request: a fault, or the API server's answer."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self.proxy.fault_for(self.command, self.path)
        try:
            if fault is None:
                self._pass_on(content)
            else:
                self._go_wrong(fault, content)
        except (OSError, http.client.HTTPException):
            self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the record says it better."""

    def date_time_string(self, timestamp: float | None = None) -> str:
        """By the cluster's clock."""
        return super().date_time_string((time.time() if timestamp is None else timestamp) + self.proxy.ahead_s)

    def _go_wrong(self, fault: Fault, content: bytes) -> None:
        match fault.kind:
            case "refuse" | "body":
                self._answer(fault.status, fault.headers, fault.body)
            case "hang":
                self._wait(fault.seconds)
                self._cut()
            case "disconnect":
                self._cut()
            case "silent_watch":
                self._head(200, (("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")))
                self._wait(fault.seconds)
                self._cut()
            case "endless":
                self._endless(fault.size)
            case "continue_gone" if "continue=" not in self.path:
                self._pass_on(content)
            case "continue_gone":
                self._answer(410, (("Content-Type", "application/json"),), _EXPIRED)
            case _:
                self._spoil(fault, content)

    def _spoil(self, fault: Fault, content: bytes) -> None:
        """The true answer, made worse."""
        with self._ask(content) as response:
            answer = response.read()
            status, kind = response.status, (("Content-Type", response.getheader("Content-Type", "")),)
        self.proxy.record(self.command, self.path, status, answer)
        match fault.kind:
            case "lose_answer":
                self._cut()
            case "truncate":
                self._answer(status, kind, answer[: len(answer) // 2])
            case "drip":
                self._drip(status, kind, answer, fault.seconds)
            case "items_missing":
                self._answer(status, kind, _every_other(answer))
            case "rewind":
                self._answer(status, kind, _with_version(answer, fault.body.decode()))

    def _pass_on(self, content: bytes) -> None:
        with self._ask(content) as response:
            kind = (("Content-Type", response.getheader("Content-Type", "")),)
            length = response.getheader("Content-Length")
            whole = self.proxy.ahead_s and "watch=" not in self.path and kind[0][1] == "application/json"
            if length is not None or self.command in WRITES or whole:
                answer = response.read()
                self.proxy.record(self.command, self.path, response.status, answer)
                answer = _by_clock(answer, self.proxy.ahead_s) if whole else answer
                self._answer(response.status, kind, answer)
                return
            self._head(response.status, (*kind, ("Transfer-Encoding", "chunked")))
            while piece := response.read1(CHUNK):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

    @contextlib.contextmanager
    def _ask(self, content: bytes) -> Iterator[http.client.HTTPResponse]:
        host, port = self.proxy.upstream
        connection = http.client.HTTPSConnection(host, port, timeout=LONGEST_SECONDS, context=self.proxy.trust)
        headers = {key: value for key, value in self.headers.items() if key.lower() not in NOT_PASSED_ON}
        try:
            connection.request(self.command, self.path, body=content or None, headers=headers)
            yield connection.getresponse()
        finally:
            connection.close()

    def _answer(self, status: int, headers: tuple[tuple[str, str], ...], content: bytes) -> None:
        self._head(status, (*headers, ("Content-Length", str(len(content)))))
        self.wfile.write(content)

    def _head(self, status: int, headers: tuple[tuple[str, str], ...]) -> None:
        self.send_response(status)
        for key, value in headers:
            self.send_header(key, value)
        self.end_headers()
        self.wfile.flush()

    def _drip(self, status: int, headers: tuple[tuple[str, str], ...], content: bytes, seconds: float) -> None:
        self._head(status, (*headers, ("Content-Length", str(len(content)))))
        deadline = time.monotonic() + LONGEST_SECONDS
        for number in range(len(content)):
            if self.proxy.stopped.wait(seconds) or time.monotonic() > deadline:
                self._cut()
                return
            self.wfile.write(content[number : number + 1])

    def _endless(self, size: int) -> None:
        self._head(200, (("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")))
        stopped, piece = self.proxy.stopped, b" " * CHUNK
        start = b'{"kind":"List","apiVersion":"v1","metadata":{},"items":['
        self.wfile.write(b"%x\r\n%s\r\n" % (len(start), start))
        for _ in range(size // CHUNK):
            if stopped.is_set():
                break
            self.wfile.write(b"%x\r\n%s\r\n" % (CHUNK, piece))
        self._cut()

    def _wait(self, seconds: float) -> None:
        self.proxy.stopped.wait(min(seconds, LONGEST_SECONDS))

    def _cut(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.close()


_EXPIRED = (
    b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,'
    b'"message":"The provided continue parameter is too old to display a consistent list result."}'
)


_TIME = re.compile(rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z"')


def _by_clock(answer: bytes, ahead_s: float) -> bytes:
    """The answer with every time in it as a clock that is so far ahead would have written it."""

    def moved(found: re.Match[bytes]) -> bytes:
        moment = datetime.fromisoformat(found[1].decode()) + timedelta(seconds=ahead_s)
        return b'"%s"' % moment.strftime("%Y-%m-%dT%H:%M:%SZ").encode()

    return _TIME.sub(moved, answer)


def _every_other(answer: bytes) -> bytes:
    document: dict[str, Any] = json.loads(answer)
    document["items"] = (document.get("items") or [])[::2]
    return json.dumps(document).encode()


def _with_version(answer: bytes, version: str) -> bytes:
    document: dict[str, Any] = json.loads(answer)
    document.setdefault("metadata", {})["resourceVersion"] = version
    return json.dumps(document).encode()
