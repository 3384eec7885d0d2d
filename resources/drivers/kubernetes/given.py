"""What a person gives to reach a cluster: address, authority, token, client certificate; each read strictly. Pure.

Nothing here opens a file, resolves a name or starts a process, and no refusal repeats a secret.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from portal.lib.text import BadInput, clean_slug, gettext_noop
from resources.drivers.kubernetes.addresses import Network, allowed_address, is_literal
from resources.drivers.kubernetes.connection import Credential
from resources.drivers.kubernetes.names import HOME

LONGEST_SERVER: Final = 300
LONGEST_PEM: Final = 65_536
LONGEST_TOKEN: Final = 8_192
SHORTEST_TOKEN: Final = 16
MOST_CERTIFICATES: Final = 20

NO_SERVER = gettext_noop("Give the address of the API server, such as https://10.1.2.3:6443.")
NOT_HTTPS = gettext_noop("The address must start with https://: over anything else the token could be read on the way.")
USERINFO = gettext_noop("The address must not hold a user name or password. Give a token instead.")
PATH = gettext_noop(
    "The address ends after host and port. A gateway that needs a path is not supported: give the API server's own."
)
BAD_HOST = gettext_noop("The host of the address is no name and no address. Write it as api.example.org or 10.1.2.3.")
BAD_PORT = gettext_noop("The port must be a number from 1 to 65535.")
NO_PEM = gettext_noop("This holds no certificate. Paste the text from BEGIN CERTIFICATE to END CERTIFICATE.")
PEM_TOO_LONG = gettext_noop("{length} characters are too many for certificates; at most {maximum} are read.")
KEY_IN_AUTHORITY = gettext_noop(
    "This holds a private key. Give the authority's certificate only, and replace that key."
)
BAD_TOKEN = gettext_noop("This is no bearer token: {minimum} to {maximum} letters, digits and -._~+/ on one line.")
BAD_KEY = gettext_noop("The private key cannot be read. Give it as PEM, without a passphrase.")
OTHER_KEY = gettext_noop("The private key belongs to another certificate. Give the two that were issued together.")
NO_CREDENTIAL = gettext_noop("There is no credential. Give a token, or a client certificate with its key.")
TWO_CREDENTIALS = gettext_noop("There are a token and a client certificate. Give one of the two.")
RESERVED_NAMESPACE = gettext_noop("{namespace} belongs to the system. Jobs need a namespace of their own.")

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\Z", re.ASCII)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*", re.ASCII)
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----", re.ASCII)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate by what a person compares: whose it is, its SHA-256 fingerprint, and when it ends."""

    subject: str
    fingerprint: str
    ends_at: datetime


def read_server(value: str, networks: Iterable[Network] = ()) -> str:
    """`https://host[:port]`, in lower case. Raises BadInput for everything a cluster must not be reached by."""
    text = value.strip()
    if not text:
        raise BadInput("NoServer", NO_SERVER)
    if not text.lower().startswith("https://"):
        raise BadInput("NotHttps", NOT_HTTPS)
    if len(text) > LONGEST_SERVER or not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        raise BadInput("BadHost", BAD_HOST)
    return _server(text.lower(), networks)


def _server(text: str, networks: Iterable[Network]) -> str:
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname or ""
    except ValueError as error:
        raise BadInput(*(("BadPort", BAD_PORT) if "port" in str(error).lower() else ("BadHost", BAD_HOST))) from error
    if "@" in parts.netloc:
        raise BadInput("UserInServer", USERINFO)
    if parts.path not in ("", "/") or parts.query or parts.fragment or text.endswith(("?", "#")):
        raise BadInput("PathInServer", PATH)
    if port == 0 or parts.netloc.endswith(":"):
        raise BadInput("BadPort", BAD_PORT)
    _require_host(host, networks)
    shown = f"[{host}]" if ":" in host else host
    return f"https://{shown}" + (f":{port}" if port else "")


def _require_host(host: str, networks: Iterable[Network]) -> None:
    """A literal address is looked at now; a name each time it is connected to."""
    if is_literal(host):
        allowed_address(host, networks)
    elif not _NAME.fullmatch(host):
        raise BadInput("BadHost", BAD_HOST)
    elif host == "localhost" or host.endswith(".localhost"):
        allowed_address("127.0.0.1", networks)


def read_server_name(value: str) -> str:
    """The name a server's certificate must hold; "" for that of its address. Raises BadInput."""
    text = value.strip().lower()
    if text and not _NAME.fullmatch(text):
        raise BadInput("BadHost", BAD_HOST)
    return text


def read_namespace(value: str, default: str) -> str:
    """A namespace for jobs; `default` when none is given. Raises BadInput."""
    name = clean_slug(value.strip() or default)
    if name.startswith("kube-") or name == HOME:
        # Who may start pods there can take on the service accounts that live there.
        raise BadInput("ReservedNamespace", RESERVED_NAMESPACE, {"namespace": name})
    return name


def read_authority(value: str) -> str:
    """The certificates, one after the other and nothing else. Raises BadInput."""
    found = _certificates(value)
    return "".join(_pem(certificate) for certificate in found)


def read_token(value: str) -> Credential:
    """The token as a credential. Raises BadInput."""
    text = value.strip()
    if not SHORTEST_TOKEN <= len(text) <= LONGEST_TOKEN or not _TOKEN.fullmatch(text):
        raise BadInput("BadToken", BAD_TOKEN, {"minimum": SHORTEST_TOKEN, "maximum": LONGEST_TOKEN})
    return Credential(token=text)


def read_client_certificate(certificate: str, key: str) -> Credential:
    """The certificate with its chain and its key. Raises BadInput when the two do not belong together."""
    chain = _certificates(certificate)
    if len(key) > LONGEST_PEM:
        raise BadInput("BadKey", BAD_KEY)
    try:
        public = load_pem_private_key(key.encode(), password=None).public_key()
        own = chain[0].public_key()
        same = _public_bytes(public) == _public_bytes(own)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadInput("BadKey", BAD_KEY) from error
    if not same:
        raise BadInput("OtherKey", OTHER_KEY)
    return Credential(certificate_pem="".join(_pem(one) for one in chain), key_pem=key.strip() + "\n")


def read_credential(*, token: str = "", certificate: str = "", key: str = "") -> Credential:
    """A token, or a client certificate with its key. Raises BadInput for none, and for both."""
    if token and (certificate or key):
        raise BadInput("TwoCredentials", TWO_CREDENTIALS)
    if token:
        return read_token(token)
    if not certificate and not key:
        raise BadInput("NoCredential", NO_CREDENTIAL)
    return read_client_certificate(certificate, key)


def describe(pem: str) -> list[Certificate]:
    """The certificates of a text that was read here before; none of an empty one."""
    if not pem:
        return []
    return [
        Certificate(one.subject.rfc4514_string()[:200], _digest(one), one.not_valid_after_utc)
        for one in x509.load_pem_x509_certificates(pem.encode())
    ]


def fingerprint(credential: Credential) -> str:
    """Sixteen hexadecimal digits that tell credentials apart and lead to none of them."""
    if credential.certificate_pem:
        return describe(credential.certificate_pem)[0].fingerprint[:16]
    return sha256(credential.token.encode()).hexdigest()[:16]


def ends_at(credential: Credential) -> datetime | None:
    """When it stops working, as far as it says so itself; None when it does not."""
    if credential.certificate_pem:
        return min(one.ends_at for one in describe(credential.certificate_pem))
    return _token_end(credential.token)


def _token_end(token: str) -> datetime | None:
    """The `exp` of a JSON web token. Nothing is verified: the API server does that."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC) if type(claims["exp"]) is int else None
    except (binascii.Error, ValueError, LookupError, TypeError, OverflowError, OSError, RecursionError):
        return None


def _certificates(text: str) -> list[x509.Certificate]:
    if len(text) > LONGEST_PEM:
        raise BadInput("PemTooLong", PEM_TOO_LONG, {"length": len(text), "maximum": LONGEST_PEM})
    if "PRIVATE KEY" in text:
        raise BadInput("KeyInAuthority", KEY_IN_AUTHORITY)
    blocks = _CERTIFICATE.findall(text)
    if not 0 < len(blocks) <= MOST_CERTIFICATES or _CERTIFICATE.sub("", text).strip():
        raise BadInput("NoCertificate", NO_PEM)
    try:
        found = [x509.load_pem_x509_certificate(block.encode()) for block in blocks]
        for one in found:
            one.subject.rfc4514_string(), one.not_valid_after_utc, one.public_key()
    except (ValueError, TypeError, UnsupportedAlgorithm, OverflowError) as error:
        raise BadInput("NoCertificate", NO_PEM) from error
    return found


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def _public_bytes(key: object) -> bytes:
    raw: bytes = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)  # type: ignore[attr-defined]
    return raw


def _digest(certificate: x509.Certificate) -> str:
    return sha256(certificate.public_bytes(Encoding.DER)).hexdigest()
