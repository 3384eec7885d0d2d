"""What is needed to reach an API server: an address, an authority, and a credential for each right. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network

NAMESPACE = "armillary-jobs"
"""Where jobs run when nothing else was agreed with the cluster's owner."""


class Right(StrEnum):
    """What a credential may do; each has a manifest and a token of its own (trust.md)."""

    OBSERVER = "observer"
    RUNNER = "runner"
    STEWARD = "steward"


@dataclass(frozen=True, slots=True)
class Credential:
    """A bearer token, or a client certificate with its key; kept out of every representation."""

    token: str = field(default="", repr=False)
    certificate_pem: str = field(default="", repr=False)
    key_pem: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach one cluster. Only safe fields: no program, no file and no proxy can be named here."""

    server: str
    """https://host[:port], nothing more."""
    authority_pem: str
    """Certificates the server must be signed by; "" means those the machine trusts."""
    credentials: Mapping[Right, Credential]
    server_name: str = ""
    """The name its certificate must hold, when it is another than the host's."""
    namespace: str = NAMESPACE
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    """Networks besides ordinary ones that may be reached, such as loopback for tests; empty in production."""
