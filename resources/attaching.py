"""What people give to attach a Kubernetes cluster, and the safe pieces of it. Refusals name their field."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from portal.lib.text import BadInput, gettext_noop
from resources.drivers.kubernetes.connection import NAMESPACE, Credential, Right
from resources.drivers.kubernetes.given import (
    read_authority,
    read_credential,
    read_namespace,
    read_server,
    read_server_name,
)
from resources.drivers.kubernetes.kubeconfig import Kubeconfig, read_kubeconfig

T = TypeVar("T")
TOKEN_FIELDS: Final = {Right(right): f"{right}_token" for right in Right}
# Reasons that tell of more than a slip: such a text would have started a program, read a file or gone astray.
DANGEROUS: Final = frozenset(
    {
        "ExecRefused", "AuthProviderRefused", "TokenFileRefused", "FilePathRefused", "ProxyRefused", "TlsCheckOff",
        "ImpersonationRefused", "MetadataAddress", "LinkLocalAddress", "LoopbackAddress", "YamlReference",
    }
)  # fmt: skip
BOTH_WAYS = gettext_noop("Leave this empty: the kubeconfig says it.")
NO_OBSERVER = gettext_noop("The observer's token is needed: without it nothing is known of the cluster.")
TWO_TOKENS = gettext_noop("The kubeconfig has a credential for this role already. Give one of the two.")


@dataclass(frozen=True, slots=True)
class ConnectionGiven:
    """As a person gave it: a kubeconfig, or a server with authority; and a token for each role there is one for."""

    kubeconfig: str = field(default="", repr=False)
    context: str = ""
    right: Right = Right.OBSERVER
    """Whose credential the kubeconfig holds."""
    server: str = ""
    authority: str = field(default="", repr=False)
    server_name: str = ""
    namespace: str = ""
    tokens: Mapping[Right, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class CredentialGiven:
    """A token, or a client certificate with its key."""

    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Pieces:
    """What is kept of it; the credentials show nothing of themselves."""

    server: str
    authority_pem: str
    server_name: str
    namespace: str
    credentials: Mapping[Right, Credential]


def read_pieces(given: ConnectionGiven) -> Pieces:
    """The safe pieces. Raises Invalid with every field that is refused."""
    reading = _Reading()
    namespace = reading.read("namespace", lambda: read_namespace(given.namespace, NAMESPACE))
    held = _held(reading, given) if given.kubeconfig else _named(reading, given)
    credentials = dict(held.credentials) if held else {}
    for right, token in given.tokens.items():
        if not token:
            continue
        if right in credentials:
            reading.refuse(TOKEN_FIELDS[right], "TwoCredentials", TWO_TOKENS)
        elif (one := reading.read(TOKEN_FIELDS[right], lambda token=token: read_credential(token=token))) is not None:  # type: ignore[misc]
            credentials[right] = one
    if Right.OBSERVER not in credentials and not reading.errors:
        reading.refuse(TOKEN_FIELDS[Right.OBSERVER], "ObserverMissing", NO_OBSERVER)
    if reading.errors or held is None or namespace is None:
        raise Invalid.of(*reading.errors)
    return Pieces(held.server, held.authority_pem, held.server_name, namespace, credentials)


def read_given_namespace(value: str) -> str:
    """A namespace for jobs, "" being the usual one. Raises Invalid."""
    reading = _Reading()
    found = reading.read("namespace", lambda: read_namespace(value, NAMESPACE))
    if found is None:
        raise Invalid.of(*reading.errors)
    return found


def read_given_credential(given: CredentialGiven) -> Credential:
    """The credential. Raises Invalid."""
    reading = _Reading()
    where = "token" if given.token or not (given.certificate or given.key) else "certificate"
    found = reading.read(
        where, lambda: read_credential(token=given.token, certificate=given.certificate, key=given.key)
    )
    if found is None:
        raise Invalid.of(*reading.errors)
    return found


class _Reading:
    """Collects what is refused, so that all of it is said at once."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def read(self, name: str, reader: Callable[[], T]) -> T | None:
        """The value, or None once it was refused."""
        try:
            return reader()
        except BadInput as bad:
            self.errors.append(FieldError(name, bad.reason, _(bad.template), bad.facts))
            return None

    def refuse(self, name: str, reason: str, message: str) -> None:
        """One more refusal."""
        self.errors.append(FieldError(name, reason, _(message), {}))


def _held(reading: _Reading, given: ConnectionGiven) -> Pieces | None:
    """From the kubeconfig; what it says is said nowhere else."""
    for name in ("server", "authority", "server_name"):
        if getattr(given, name):
            reading.refuse(name, "TwoWays", BOTH_WAYS)
    found: Kubeconfig | None = reading.read(
        "kubeconfig", lambda: read_kubeconfig(given.kubeconfig, given.context, settings.CLUSTER_NETWORKS)
    )
    if found is None:
        return None
    return Pieces(found.server, found.authority_pem, found.server_name, "", {given.right: found.credential})


def _named(reading: _Reading, given: ConnectionGiven) -> Pieces | None:
    server = reading.read("server", lambda: read_server(given.server, settings.CLUSTER_NETWORKS))
    authority = reading.read("authority", lambda: read_authority(given.authority) if given.authority.strip() else "")
    name = reading.read("server_name", lambda: read_server_name(given.server_name))
    if server is None or authority is None or name is None:
        return None
    return Pieces(server, authority, name, "", {})
