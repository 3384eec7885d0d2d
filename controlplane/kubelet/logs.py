"""The kubelet's own server: container logs for the API server, and health."""

import datetime
import itertools
import json
import re
import ssl
import threading
import time
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

from controlplane.kubelet.pods import Life, Pods
from controlplane.kubelet.script import Script

LINES = 20
LINE_BYTES = 1_000
BATCH = 64
FOLLOW_SECONDS = 0.5
PATH = re.compile(r"/containerLogs/([^/]+)/([^/]+)/([^/]+)")


def serve(pods: Pods, pki: Path, port: int) -> None:
    """Serve in the background. Logs go only to a client with a certificate of the cluster, as a kubelet has it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pki / "serving.crt", pki / "serving.key")
    context.load_verify_locations(pki / "ca.crt")
    context.verify_mode = ssl.CERT_OPTIONAL
    handler = type("Handler", (_Handler,), {"pods": pods})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    # The handshake happens in the request's thread: a client that never speaks must not stop the others.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True, name="kubelet server").start()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    pods: Pods

    def do_GET(self) -> None:
        """/healthz or /containerLogs/NAMESPACE/POD/CONTAINER with the log options of the API."""
        url = urlparse(self.path)
        if url.path == "/healthz":
            self._plain(200, "ok")
            return
        asked = PATH.fullmatch(url.path)
        if asked is None:
            self._plain(404, "404 page not found")
        elif not self.connection.getpeercert():
            self._plain(401, "Unauthorized")
        else:
            namespace, name, container = asked.groups()
            self._log(namespace, name, container, {key: values[0] for key, values in parse_qs(url.query).items()})

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a line per request would fill the log."""

    def _log(self, namespace: str, name: str, container: str, query: dict[str, str]) -> None:
        path = f"/api/v1/namespaces/{namespace}/pods/{name}"
        life = next((life for life in self.pods.lives.values() if life.path == path), None)
        if life is None:
            self._plain(404, f'pods "{name}" not found')
        elif life.started is None:
            self._plain(400, f'container "{container}" in pod "{name}" is waiting to start: ContainerCreating')
        else:
            self._stream(_limited(_content(life, query), query.get("limitBytes")))

    def _stream(self, content: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for piece in content:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def _plain(self, code: int, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _content(life: Life, query: dict[str, str]) -> Iterator[bytes]:
    """The log so far, as the options want it, and with follow=true a line now and then until the run has ended."""
    stamped = query.get("timestamps") == "true"
    lines = _since(life, query.get("sinceTime", ""))
    if "tailLines" in query:
        count = int(query["tailLines"])
        lines = iter(deque(lines, maxlen=count))
    for batch in iter(lambda: list(itertools.islice(lines, BATCH)), []):
        yield b"".join((_mark(at) + text if stamped else text) + b"\n" for at, text in batch)
    if query.get("follow") != "true":
        return
    for number in itertools.count(1):
        if life.finished or life.stopping:
            return
        time.sleep(FOLLOW_SECONDS)
        yield (_mark(time.time_ns()) if stamped else b"") + f"still running {number}\n".encode()


def _mark(at: int) -> bytes:
    """A time in nanoseconds since 1970 as the API writes it before a line."""
    second, rest = divmod(at, 1_000_000_000)
    return f"{datetime.datetime.fromtimestamp(second, datetime.UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z ".encode()


def _since(life: Life, since: str) -> Iterator[tuple[int, bytes]]:
    """Lines with their times in nanoseconds: all that the node still has, from a time on (whole seconds)."""
    begin = int(life.started.timestamp() * 1_000_000) * 1_000 if life.started else 0
    first = 0
    if since:
        first = int(datetime.datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp()) * 1_000_000_000
    if life.told.log_bytes:
        return _big(life.told, begin, first)
    return ((begin + after, text.encode()) for after, text in _lines(life) if begin + after >= first)


def _lines(life: Life) -> list[tuple[int, str]]:
    """What has been said so far, each with its nanoseconds after the start."""
    if not life.told.log_lines:
        said = life.told.log or "\n".join(f"line {number}" for number in range(1, LINES + 1))
        return [(number, text) for number, text in enumerate(said.splitlines())]
    until = life.ended or datetime.datetime.now(datetime.UTC)
    ran = (until - life.started).total_seconds() * 1_000 if life.started else 0.0
    found = [(after * 1_000_000, text) for after, text in json.loads(life.told.log_lines) if after <= ran]
    goodbye = life.told.goodbye and life.polite and life.finished
    return found + ([(int(ran * 1_000_000), life.told.goodbye)] if goodbye else [])


def _big(told: Script, begin: int, first: int) -> Iterator[tuple[int, bytes]]:
    """Numbered lines of a thousand bytes, some megabytes a second; of a rotated log the newest only."""
    step = 1_000_000_000 * LINE_BYTES // (told.log_bytes_a_second or told.log_bytes)
    count = told.log_bytes // LINE_BYTES
    kept = count - (told.log_kept // LINE_BYTES if told.log_kept else count)
    skipped = max(kept, -(-(first - begin) // step) if first > begin else 0)
    filler = b"." * (LINE_BYTES - 11)
    return ((begin + number * step, b"%09d %s" % (number, filler)) for number in range(skipped, count))


def _limited(content: Iterator[bytes], limit: str | None) -> Iterator[bytes]:
    if limit is None:
        yield from content
        return
    left = int(limit)
    for piece in content:
        if left <= 0:
            return
        yield piece[:left]
        left -= len(piece)
