"""The faults that the proxy plays: what each is, and which requests it meets. Pure."""

import json
import re
import threading
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "hang",
    "drip",
    "refuse",
    "body",
    "endless",
    "truncate",
    "items_missing",
    "continue_gone",
    "silent_watch",
    "rewind",
    "disconnect",
    "lose_answer",
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to go wrong. Make them with the functions below."""

    kind: Kind
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    size: int = 0
    seconds: float = 0.0


@dataclass(slots=True)
class Rule:
    """A fault for the requests whose method is one of `methods` and whose path with query holds the pattern.

    It meets the first `times` such requests after `after` others, or all of them; `met` counts them.
    """

    fault: Fault
    path: str
    methods: tuple[str, ...] = ()
    times: int | None = None
    after: int = 0
    met: int = 0
    seen: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def meets(self, method: str, target: str) -> bool:
        """Whether this request gets the fault; it is counted."""
        if (self.methods and method not in self.methods) or not re.search(self.path, target):
            return False
        with self.lock:
            self.seen += 1
            if self.seen <= self.after or (self.times is not None and self.met >= self.times):
                return False
            self.met += 1
            return True


def hang(seconds: float = 60.0) -> Fault:
    """Take the request and say nothing for that long; then close."""
    return Fault("hang", seconds=seconds)


def drip(seconds: float = 0.2) -> Fault:
    """Pass the true answer on, one byte each so many seconds."""
    return Fault("drip", seconds=seconds)


def too_many_requests(retry_after: int | None = None) -> Fault:
    """429, with the seconds to wait or without."""
    headers = (("Retry-After", str(retry_after)),) if retry_after is not None else ()
    return _status(429, "TooManyRequests", "the server has received too many requests", headers)


def gone() -> Fault:
    """410: the resourceVersion or continue token is too old."""
    return _status(410, "Expired", "too old resource version: 1 (2)")


def internal_error() -> Fault:
    """500 with a Status object."""
    return _status(500, "InternalError", "etcdserver: request timed out")


def unavailable() -> Fault:
    """503 with a Status object."""
    return _status(503, "ServiceUnavailable", "apiserver not ready")


def html(status: int = 200) -> Fault:
    """A page for people, as a login proxy or load balancer before the API server sends it."""
    page = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>"
    return Fault("body", status, (("Content-Type", "text/html"),), page)


def body(content: bytes, status: int = 200, content_type: str = "application/json") -> Fault:
    """That very answer."""
    return Fault("body", status, (("Content-Type", content_type),), content)


def truncated() -> Fault:
    """The first half of the true answer's JSON, as if it were all of it."""
    return Fault("truncate")


def items_missing() -> Fault:
    """A list with every other item left out, and no word about it."""
    return Fault("items_missing")


def continue_gone() -> Fault:
    """410 for the second page of a list; the first comes as it is."""
    return Fault("continue_gone")


def silent_watch(seconds: float = 60.0) -> Fault:
    """A watch opens well, and nothing ever comes."""
    return Fault("silent_watch", seconds=seconds)


def rewound(version: str = "1") -> Fault:
    """The true answer with a resourceVersion from long ago, as after a restored backup."""
    return Fault("rewind", body=version.encode())


def endless(size: int = 1024**3) -> Fault:
    """A body of so many bytes, a JSON list that does not end."""
    return Fault("endless", size=size)


def disconnect() -> Fault:
    """Close the connection without an answer; the API server never sees the request."""
    return Fault("disconnect")


def lose_answer() -> Fault:
    """Let the API server do what was asked, and close the connection in place of its answer."""
    return Fault("lose_answer")


def _status(code: int, reason: str, message: str, headers: tuple[tuple[str, str], ...] = ()) -> Fault:
    answer = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    content = json.dumps(answer).encode()
    return Fault("refuse", code, (("Content-Type", "application/json"), *headers), content)
