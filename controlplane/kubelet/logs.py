"""The kubelet's own server: container logs for the API server, and health."""

import datetime
import itertools
import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

from controlplane.kubelet.pods import Life, Pods

CHUNK = 65_536
LINES = 20
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
    """The log so far, and with follow=true a line now and then until the run has ended."""
    if life.told.log_bytes:
        yield from _big(life.told.log_bytes)
        return
    lines = _lines(life)
    if "tailLines" in query:
        count = int(query["tailLines"])
        lines = lines[-count:] if count else []
    started = life.started.strftime("%Y-%m-%dT%H:%M:%S.000000000Z ") if life.started else ""
    mark = started if query.get("timestamps") == "true" else ""
    if lines:
        yield "".join(f"{mark}{line}\n" for line in lines).encode()
    if query.get("follow") != "true":
        return
    for number in itertools.count(1):
        if life.finished or life.stopping:
            return
        time.sleep(FOLLOW_SECONDS)
        yield f"{mark}still running {number}\n".encode()


def _lines(life: Life) -> list[str]:
    """What has been said so far."""
    if not life.told.log_lines:
        return (life.told.log or "\n".join(f"line {number}" for number in range(1, LINES + 1))).splitlines()
    until = life.ended or datetime.datetime.now(datetime.UTC)
    ran = (until - life.started).total_seconds() * 1_000 if life.started else 0.0
    said = [text for after, text in json.loads(life.told.log_lines) if after <= ran]
    return said + ([life.told.goodbye] if life.told.goodbye and life.polite and life.finished else [])


def _big(size: int) -> Iterator[bytes]:
    line = b"a line of a log that nobody should read to its end\n"
    block = line * (CHUNK // len(line) + 1)
    while size > 0:
        yield block[:size]
        size -= len(block)


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
