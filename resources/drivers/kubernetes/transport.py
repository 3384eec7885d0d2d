"""One HTTPS pool to one API server: addresses checked when connecting, a deadline over everything, a limit of size.

A time-out of a single read is not enough: a server that sends a byte now and then never runs into it.
"""

import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network
from typing import Any
from urllib.parse import urlsplit

from urllib3 import HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError
from urllib3.response import BaseHTTPResponse

from resources.drivers.kubernetes.addresses import AddressRefused, allowed_address
from resources.drivers.kubernetes.connection import Connection, Credential

JSON = "application/json"
CONNECT_S = 5.0
MOST_BYTES = 64 << 20
"""The largest answer that is read: a page of 500 large nodes has a tenth of it."""
MOST_LINE = 4 << 20
"""The largest line of an answer that is read line by line: the API keeps no object that is larger."""
_OK = 200
_ABOUT_S = 0.5
_PIECE = 1 << 16
_PORT = 443
_MOST_ADDRESSES = 4


class TransportError(Exception):
    """No whole answer was had; whether the call had an effect is not known."""


class DeadlineSocket(ssl.SSLSocket):
    """A TLS socket whose every read ends at one moment, however many reads there are."""

    deadline: float | None = None

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """As the base class; raises TimeoutError once the deadline has passed."""
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("the deadline of the call has passed")
            self.settimeout(left)
        return super().recv_into(*args, **kwargs)


class Transport:
    """Calls as one credential. Used by several threads."""

    def __init__(self, connection: Connection, credential: Credential) -> None:
        parts = urlsplit(connection.server)
        if parts.scheme != "https" or not parts.hostname:
            raise TransportError("only https servers are spoken to")
        self._credential = credential
        self._pool = HTTPSConnectionPool(
            parts.hostname,
            parts.port or _PORT,
            maxsize=4,
            block=False,
            retries=False,
            timeout=Timeout(connect=CONNECT_S, read=CONNECT_S),
            ssl_context=_context(connection, credential),
            server_hostname=connection.server_name or None,
        )
        self._pool.ConnectionCls = _connection_class(connection.networks)

    def call(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        kind: str = JSON,
        accept: str = JSON,
        within_s: float,
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the answer. Raises TransportError when it is not whole within the time."""
        until = time.monotonic() + within_s
        headers = {"Accept": accept, "User-Agent": "armillary"}
        if body is not None:
            headers["Content-Type"] = kind
        if self._credential.token:
            headers["Authorization"] = f"Bearer {self._credential.token}"
        try:
            answer = self._pool.urlopen(
                method,
                path,
                body=body,
                headers=headers,
                redirect=False,
                preload_content=False,
                decode_content=False,
                timeout=_Until(until),
            )
            return answer.status, answer.headers, _whole(answer, until)
        except (HTTPError, OSError, AddressRefused, ValueError) as error:
            raise TransportError(f"{type(error).__name__}: {error}"[:300]) from error

    def lines(self, path: str, *, within_s: float) -> Iterator[bytes]:
        """The lines of an answer as they come, until it ends or the time is over. Raises TransportError.

        The connection is not used again, and closed with the iterator.
        """
        until = time.monotonic() + within_s
        headers = {"Accept": JSON, "User-Agent": "armillary"}
        if self._credential.token:
            headers["Authorization"] = f"Bearer {self._credential.token}"
        answer: BaseHTTPResponse | None = None
        try:
            answer = self._pool.urlopen(
                "GET",
                path,
                headers=headers,
                redirect=False,
                preload_content=False,
                decode_content=False,
                timeout=_Until(until),
            )
            if answer.status != _OK:
                raise TransportError(f"status {answer.status}")
            yield from _lines(answer)
        except (HTTPError, OSError, AddressRefused, ValueError) as error:
            if time.monotonic() < until - _ABOUT_S:
                raise TransportError(f"{type(error).__name__}: {error}"[:300]) from error
        finally:
            if answer is not None:
                answer.close()


class _Until(Timeout):
    """A time-out that carries the moment at which the whole call is over."""

    def __init__(self, until: float) -> None:
        left = max(0.001, until - time.monotonic())
        super().__init__(connect=min(CONNECT_S, left), read=left)
        self.until = until

    @property
    def read_timeout(self) -> float:
        """What is left once the request was sent."""
        return max(0.001, self.until - time.monotonic())

    def clone(self) -> "_Until":
        """The pool works on copies."""
        return _Until(self.until)


def _whole(answer: BaseHTTPResponse, until: float) -> bytes:
    """All of the body; the connection is given up when it is too slow or too much."""
    pieces, size = [], 0
    try:
        announced = answer.headers.get("Content-Length", "")
        if announced.isascii() and announced.isdecimal() and int(announced[:20]) > MOST_BYTES:
            raise TransportError(f"the answer is larger than {MOST_BYTES >> 20} MiB")
        while piece := answer.read1(_PIECE):
            size += len(piece)
            pieces.append(piece)
            if size > MOST_BYTES:
                raise TransportError(f"the answer is larger than {MOST_BYTES >> 20} MiB")
            if time.monotonic() > until:
                raise TransportError("the answer took too long")
    except BaseException:
        answer.close()
        raise
    answer.release_conn()
    return b"".join(pieces)


def _lines(answer: BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    while piece := answer.read1(_PIECE):
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
        if len(rest) > MOST_LINE:
            raise TransportError(f"a line is larger than {MOST_LINE >> 20} MiB")
    if rest:
        yield rest


def _connection_class(networks: tuple[IPv4Network | IPv6Network, ...]) -> type[HTTPSConnection]:
    class Checked(HTTPSConnection):
        """Connects to an address that was looked at, not to what a name may mean a moment later."""

        def _new_conn(self) -> socket.socket:
            name = self._dns_host
            found = socket.getaddrinfo(name, self.port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(row[4][0]) for row in found))
            for address in addresses:
                allowed_address(address, networks)
            try:
                return self._first_of(addresses[:_MOST_ADDRESSES])
            finally:
                self._dns_host = name

        def _first_of(self, addresses: list[str]) -> socket.socket:
            """A connection to the first that takes one; one that is down leaves the others their part of the time."""
            whole = self.timeout
            self.timeout = whole / len(addresses) if isinstance(whole, int | float) else CONNECT_S
            try:
                for count, address in enumerate(addresses, 1):
                    self._dns_host = address
                    try:
                        sock = super()._new_conn()
                    except (ConnectTimeoutError, NewConnectionError):
                        if count == len(addresses):
                            raise
                        continue
                    sock.settimeout(whole if isinstance(whole, int | float) else CONNECT_S)
                    return sock
                raise NewConnectionError(self, "the name has no address")
            finally:
                self.timeout = whole

        def getresponse(self) -> Any:
            limit = self.timeout
            sock = self.sock
            if isinstance(sock, DeadlineSocket):
                sock.deadline = time.monotonic() + float(limit) if isinstance(limit, int | float) else None
            return super().getresponse()

    return Checked


def _context(connection: Connection, credential: Credential) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=connection.authority_pem or None)
    context.sslsocket_class = DeadlineSocket
    if credential.certificate_pem:
        _load_certificate(context, credential)
    return context


def _load_certificate(context: ssl.SSLContext, credential: Credential) -> None:
    """The library wants a file: one in memory, which no other process can open by a name."""
    handle = os.memfd_create("client")
    try:
        os.write(handle, f"{credential.certificate_pem}\n{credential.key_pem}\n".encode())
        context.load_cert_chain(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)


Open = Callable[[Connection, Credential], Transport]
"""How a driver gets its transport; tests give another."""
