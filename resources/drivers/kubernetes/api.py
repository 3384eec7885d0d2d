"""The API server's JSON: lists in pages, refusals told from silence, and nothing concluded from half an answer."""

import json
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.clock import ClusterClock
from resources.drivers.kubernetes.connection import Connection, Right
from resources.drivers.kubernetes.names import shown
from resources.drivers.kubernetes.pace import Breaker, RateLimit
from resources.drivers.kubernetes.transport import JSON, Open, Transport, TransportError

log = logging.getLogger(__name__)
PAGE = 500
ANSWER_S = 10.0
"""The longest one call may take, from connecting to the last byte."""
LIST_S = 60.0
"""The longest a whole list may take, however many pages it has."""
REWOUND_S = 600.0
"""How long lists must be older than one seen before, and grow, until the cluster counts as restored from a backup."""
_LONGEST_WAIT_S = 2.0
_MOST_PAGES = 1_000
_TRIES = 3
_EVENTS = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
NAMES_ONLY = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""What to accept where only names and labels are of interest."""
Json = dict[str, Any]
T = TypeVar("T")


class Refused(Exception):
    """The API server answered that it will not: nothing was changed. `reason` is its own word, such as NotFound."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(shown(f"{status} {reason}: {message}")[:300])
        self.status, self.reason, self.message = status, shown(reason), shown(message)


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """What was kept of each item of a collection at one version, and all their names.

    `complete` False when some may be missing, which proves no absence.
    """

    items: tuple[T, ...]
    complete: bool
    names: frozenset[str] = frozenset()


class _Answer(NamedTuple):
    """A body, when it was written by the server's clock, and when it was asked for and had by ours."""

    body: bytes
    date: str
    sent: float
    heard: float


class Api:
    """One cluster's API server, with the credential each call needs. Used by several threads."""

    def __init__(
        self,
        connection: Connection,
        *,
        open_transport: Open = Transport,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.connection = connection
        self.cluster_clock = ClusterClock()
        self._open, self._clock, self._sleep = open_transport, clock, sleep
        self._transports: dict[Right, Transport] = {}
        self._limit, self._breaker = RateLimit(clock), Breaker(clock)
        self._newest: dict[str, int] = {}
        self._listed: dict[str, str] = {}
        self._older: dict[str, tuple[int, float]] = {}

    def has(self, right: Right) -> bool:
        """Whether there is a credential for it."""
        return right in self.connection.credentials

    def get(self, path: str, *, right: Right, **query: str) -> Json:
        """The object. Raises Refused and DriverUnavailable, as every call."""
        return self._call("GET", path, right, query)

    def text(self, path: str, *, right: Right, **query: str) -> bytes:
        """What is no JSON, such as a log."""
        answer = self._send("GET", path, right, query)
        self._breaker.succeeded()
        return answer.body

    def plain(self, path: str, *, right: Right) -> Json:
        """A JSON object that is none of Kubernetes' kinds, such as `/version`."""
        answer = _parsed(self._send("GET", path, right, {}).body)
        if answer is None:
            raise DriverUnavailable(f"GET {path}: the answer is no JSON object", reason="NotAnApiServer")
        return answer

    def create(self, path: str, body: Json, *, right: Right, **query: str) -> Json:
        """The new object. On DriverUnavailable it may or may not exist."""
        return self._call("POST", path, right, query, body)

    def patch(self, path: str, body: Json, *, right: Right, kind: str = MERGE, **query: str) -> Json:
        """The object after a patch of that kind."""
        return self._call("PATCH", path, right, query, body, kind)

    def replace(self, path: str, body: Json, *, right: Right) -> Json:
        """The object put in place of the version it names."""
        return self._call("PUT", path, right, {}, body)

    def delete(self, path: str, *, right: Right, uid: str, grace_s: int | None = None) -> None:
        """Ask for the deletion of exactly this object; one that is gone or another by now is left alone."""
        body: Json = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}}
        body |= {"propagationPolicy": "Background"} | ({} if grace_s is None else {"gracePeriodSeconds": grace_s})
        try:
            self._call("DELETE", path, right, {}, body)
        except Refused as refusal:
            if refusal.status not in (404, 409):
                raise

    def list(self, path: str, *, right: Right, **query: str) -> Listing[Json]:
        """Every item as it is; see `each`."""
        return self.each(path, _as_it_is, right=right, **query)

    def each(
        self, path: str, keep: Callable[[Json], T], *, right: Right, accept: str = JSON, **query: str
    ) -> Listing[T]:
        """What `keep` makes of every item, page by page at one version; of a page no more than that is remembered.

        A list that expires on the way is begun again, and `keep` sees its items again. A version older than one seen
        before, pages of different versions, and fewer items than the first page announced make it incomplete.
        """
        until = self._clock() + LIST_S
        for _try in range(_TRIES):
            try:
                return self._pages(path, right, query, keep, accept, until)
            except Refused as refusal:
                if refusal.status != 410:
                    raise
        raise DriverUnavailable(f"{path}: the list expired {_TRIES} times", reason="ListExpired")

    def _pages(
        self, path: str, right: Right, query: Mapping[str, str], keep: Callable[[Json], T], accept: str, until: float
    ) -> Listing[T]:
        kept: list[T] = []
        names, versions = set[str](), set[str]()
        announced, token = 0, ""
        for _page in range(_MOST_PAGES):
            if self._clock() > until:
                raise DriverUnavailable(f"{path}: the list took longer than {LIST_S:.0f} s", reason="ListTooSlow")
            asked = {**query, "limit": str(PAGE), **({"continue": token} if token else {})}
            items, about = _page_of(self._call("GET", path, right, asked, accept=accept), path)
            kept += map(keep, items)
            names.update(_name(item) for item in items)
            versions.add(str(about.get("resourceVersion", "")))
            if not token and isinstance(about.get("remainingItemCount"), int):
                announced = len(kept) + about["remainingItemCount"]
            before, token = token, str(about.get("continue") or "")
            if not token:
                version = next(iter(versions), "")
                fresh = self._is_newest(f"{path}?{sorted(query.items())}", versions)
                self._heard_until(path, version if fresh else "")
                return Listing(tuple(kept), fresh and len(kept) >= announced, frozenset(names))
            if token == before:
                break
        return Listing(tuple(kept), complete=False, names=frozenset(names))

    def watch(self, path: str, *, right: Right, within_s: float, **query: str) -> Iterator[Json]:
        """What changed in a collection since it was last listed whole, as it changes, for so long at most.

        A hint and nothing more: it ends early for whatever trouble, without a word, and counts for none. The next
        begins where it ended; after a version that is too old, only once there is a new list.
        """
        since = self._listed.get(path, "")
        if not since or not self._breaker.is_closed or self._limit.wait_s(0.0):
            return
        asked = {**query, "watch": "1", "allowWatchBookmarks": "true", "resourceVersion": since}
        target = f"{path}?{urlencode(asked | {'timeoutSeconds': str(math.ceil(within_s))})}"
        try:
            for line in self._ready_quietly(right).lines(target, within_s=within_s):
                event = _parsed(line) or {}
                thing = event.get("object")
                if event.get("type") not in _EVENTS or not isinstance(thing, dict):
                    self._heard_until(path, "")
                    return
                self._heard_until(path, str((thing.get("metadata") or {}).get("resourceVersion") or ""))
                if event["type"] != "BOOKMARK":
                    yield thing
        except (TransportError, OSError, ValueError) as error:
            log.info("watch of %s: %s", path, error)
            self._heard_until(path, "")

    def _heard_until(self, path: str, version: str) -> None:
        if version:
            self._listed[path] = version
        else:
            self._listed.pop(path, None)

    def _is_newest(self, key: str, versions: set[str]) -> bool:
        if len(versions) != 1 or not (text := versions.pop()).isdecimal():
            return False
        version, known = int(text), self._newest.get(key, 0)
        if version < known and not self._is_restored(key, version):
            return False
        self._newest[key] = version
        self._older.pop(key, None)
        return True

    def _is_restored(self, key: str, version: int) -> bool:
        """Whether versions that began anew have gone on for long: a stale cache stands still, or is gone by then."""
        first, since = self._older.setdefault(key, (version, self._clock()))
        return version > first and self._clock() - since >= REWOUND_S

    def _call(
        self,
        method: str,
        path: str,
        right: Right,
        query: Mapping[str, str],
        body: Json | None = None,
        kind: str = JSON,
        accept: str = JSON,
    ) -> Json:
        answer = self._send(method, path, right, query, body, kind, accept)
        found = _parsed(answer.body)
        if found is None or "kind" not in found:
            self._breaker.failed()
            raise DriverUnavailable(f"{method} {path}: the answer is no Kubernetes object", reason="NotAnApiServer")
        self._breaker.succeeded()
        self.cluster_clock.heard(answer.date, answer.sent, answer.heard)
        return found

    def _send(
        self,
        method: str,
        path: str,
        right: Right,
        query: Mapping[str, str],
        body: Json | None = None,
        kind: str = JSON,
        accept: str = JSON,
    ) -> _Answer:
        transport = self._ready(right)
        target = f"{path}?{urlencode(query)}" if query else path
        content, sent = None if body is None else json.dumps(body).encode(), time.time()
        try:
            status, headers, answer = transport.call(
                method, target, body=content, kind=kind, accept=accept, within_s=ANSWER_S
            )
        except TransportError as error:
            self._breaker.failed()
            raise DriverUnavailable(f"{method} {path}: {error}", reason="Unreachable") from error
        heard = time.time()
        self._judge(status, headers, answer, f"{method} {path}")
        return _Answer(answer, headers.get("Date", ""), sent, heard)

    def _ready(self, right: Right) -> Transport:
        """The transport of that right, once the cluster may be asked."""
        if right not in self.connection.credentials:
            raise DriverUnavailable(f"no credential for the {right} role", reason="CredentialMissing")
        if pause := self._breaker.open_for_s():
            raise DriverUnavailable(f"left alone for {pause:.0f} s after failures in a row", reason="CircuitOpen")
        if wait := self._limit.wait_s(_LONGEST_WAIT_S):
            if wait > _LONGEST_WAIT_S:
                raise DriverUnavailable("too many calls at once", reason="RateLimited")
            self._sleep(wait)
        try:
            return self._ready_quietly(right)
        except (TransportError, OSError, ValueError) as error:
            raise DriverUnavailable(str(error), reason="ConnectionUnusable") from error

    def _ready_quietly(self, right: Right) -> Transport:
        if right not in self._transports:
            self._transports[right] = self._open(self.connection, self.connection.credentials[right])
        return self._transports[right]

    def _judge(self, status: int, headers: Mapping[str, str], answer: bytes, what: str) -> None:
        """Nothing for a success; Refused for a refusal in the API's own words; everything else proves nothing."""
        if 200 <= status < 300:
            return
        if status == 429 or status >= 500:
            after = headers.get("Retry-After", "")
            self._breaker.failed(not_before_s=float(after) if after.isascii() and after.isdecimal() else 0.0)
            reason = "TooManyRequests" if status == 429 else "ServerError"
            raise DriverUnavailable(f"{what}: {status}", reason=reason)
        said = _parsed(answer)
        if said is None or said.get("kind") != "Status":
            # A proxy's page with "404" in it must not read as "the job is gone".
            self._breaker.failed()
            raise DriverUnavailable(f"{what}: {status}, and no Status with it", reason="NotAnApiServer")
        self._breaker.succeeded()
        if status == 401:
            raise DriverUnavailable(f"{what}: the credential is refused", reason="Unauthorized")
        raise Refused(status, str(said.get("reason", "")), str(said.get("message", "")))


def _as_it_is(item: Json) -> Json:
    return item


def _page_of(page: Json, path: str) -> tuple[list[Json], Json]:
    """The items of a page, and what it says about itself."""
    found, about = page.get("items"), page.get("metadata")
    if not isinstance(about, dict) or not isinstance(found, list | None):
        raise DriverUnavailable(f"{path}: not a list", reason="NotAnApiServer")
    return [item for item in found or [] if isinstance(item, dict)], about


def _name(item: Json) -> str:
    about = item.get("metadata")
    return str(about.get("name", "")) if isinstance(about, dict) else ""


def _parsed(answer: bytes) -> Json | None:
    """A JSON object, or None for anything else."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
