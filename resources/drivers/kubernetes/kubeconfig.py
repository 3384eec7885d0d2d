"""A kubeconfig read for its safe fields only: address, authority, token or client certificate. Pure.

The text is never handed to a Kubernetes client, which would start programs and read files that it names. Here it is
data: no program, no file, no proxy and no name is touched, and whatever would need one is refused with its reason.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import yaml

from portal.lib.text import BadInput, gettext_noop
from resources.drivers.kubernetes.addresses import Network
from resources.drivers.kubernetes.connection import Credential
from resources.drivers.kubernetes.given import (
    LONGEST_PEM,
    read_authority,
    read_credential,
    read_server,
    read_server_name,
)

LONGEST: Final = 131_072
DEEPEST: Final = 8
MOST_NODES: Final = 4_000
MOST_NAMED: Final = 10

TOO_LONG = gettext_noop(
    "{length} characters are too many for a kubeconfig; at most {maximum} are read. Leave out other clusters."
)
NOT_TEXT = gettext_noop("This is no text of a kubeconfig. Paste what `kubectl config view --raw --minify` prints.")
NOT_YAML = gettext_noop("This is not YAML: see line {line}. Paste what `kubectl config view --raw --minify` prints.")
ALIAS = gettext_noop(
    "Anchors, aliases and tags of YAML are not read here. Paste what `kubectl config view --raw --minify` prints."
)
TOO_DEEP = gettext_noop("This nests deeper, or holds more, than any kubeconfig does.")
TWICE = gettext_noop("A name is given twice in one place (line {line}). Keep one of the two.")
NOT_KUBECONFIG = gettext_noop("This is no kubeconfig: {what} is missing or not what it should be.")
NO_CONTEXT = gettext_noop("There is no context {context}. There is: {known}.")
CHOOSE = gettext_noop("There are several contexts. Name one of: {known}.")
EXEC = gettext_noop(
    "It gets its credential by starting a program (exec). The portal starts none: give a token of a service account."
)
AUTH_PROVIDER = gettext_noop(
    "It gets its credential by an auth-provider. The portal uses none: give a token of a service account."
)
TOKEN_FILE = gettext_noop(
    "It names a file with the token (tokenFile). The portal reads no file: put the token in its place."
)
FILE_PATH = gettext_noop(
    "It names a file ({field}). The portal reads no file: `kubectl config view --raw --flatten` puts its contents in."
)
PROXY = gettext_noop(
    "It names a proxy (proxy-url). The portal connects directly, or through a tunnel with an address of its own."
)
SKIP_TLS = gettext_noop(
    "It switches off the check of the server's certificate. Give the authority instead (certificate-authority-data)."
)
PASSWORD = gettext_noop(
    "It holds a user name and a password. API servers take none any more: give a token of a service account."
)
IMPERSONATE = gettext_noop("It acts as somebody else (impersonation). Give a token of the service account itself.")
UNKNOWN = gettext_noop("{where} holds {field}, which is not read here and may matter. Take it out and look again.")
NOT_BASE64 = gettext_noop("{field} is not base64. Paste it whole, as kubectl prints it.")
NOT_A_TEXT = gettext_noop("{field} must be a text.")

_CLUSTER_FIELDS: Final = {"server", "certificate-authority-data", "tls-server-name", "disable-compression"}
_USER_FIELDS: Final = {"token", "client-certificate-data", "client-key-data"}
_CONTEXT_FIELDS: Final = {"cluster", "user", "namespace"}
_ALWAYS_IGNORED: Final = {"extensions", "locationOfOrigin", "LocationOfOrigin"}
# What matters and is refused, with its reason. Kubernetes reads names of JSON without regard to case.
_REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    "exec": ("ExecRefused", EXEC),
    "auth-provider": ("AuthProviderRefused", AUTH_PROVIDER),
    "tokenfile": ("TokenFileRefused", TOKEN_FILE),
    "client-certificate": ("FilePathRefused", FILE_PATH),
    "client-key": ("FilePathRefused", FILE_PATH),
    "certificate-authority": ("FilePathRefused", FILE_PATH),
    "proxy-url": ("ProxyRefused", PROXY),
    "username": ("PasswordRefused", PASSWORD),
    "password": ("PasswordRefused", PASSWORD),
    "as": ("ImpersonationRefused", IMPERSONATE),
    "as-uid": ("ImpersonationRefused", IMPERSONATE),
    "as-groups": ("ImpersonationRefused", IMPERSONATE),
    "as-user-extra": ("ImpersonationRefused", IMPERSONATE),
}
# What YAML itself allows, without the next-line and separator characters that only it takes for line ends.
_CONTROL: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u2028\u2029\ufeff]")
_FIELD_NAME: Final = re.compile(r"[A-Za-z-]{1,40}", re.ASCII)
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class KubeconfigRefused(BadInput):
    """The text was not taken; nothing of it was used."""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """The safe fields of one context."""

    context: str
    server: str
    authority_pem: str
    server_name: str
    credential: Credential


def read_kubeconfig(text: str, context: str = "", networks: Iterable[Network] = ()) -> Kubeconfig:
    """What the named context says; without a name, the only one or the current one of several.

    Raises BadInput (mostly KubeconfigRefused), never anything else.
    """
    document = _mapping(_load(text), "kubeconfig")
    for field in ("clusters", "contexts", "users"):
        if not isinstance(document.get(field), list):
            _refuse("NotKubeconfig", NOT_KUBECONFIG, what=field)
    contexts = _named(document, "contexts", "context")
    name = _chosen(contexts, context, document.get("current-context"))
    chosen = contexts[name]
    _check("context", chosen, _CONTEXT_FIELDS)
    cluster = _referred(document, "clusters", "cluster", chosen)
    user = _referred(document, "users", "user", chosen)
    _check("cluster", cluster, _CLUSTER_FIELDS)
    _check("user", user, _USER_FIELDS)
    return Kubeconfig(
        context=name,
        server=read_server(_text(cluster, "server"), networks),
        authority_pem=read_authority(data) if (data := _decoded(cluster, "certificate-authority-data")) else "",
        server_name=read_server_name(_text(cluster, "tls-server-name")),
        credential=read_credential(
            token=_text(user, "token"),
            certificate=_decoded(user, "client-certificate-data"),
            key=_decoded(user, "client-key-data"),
        ),
    )


# --- meaning ------------------------------------------------------------------------------------------


def _chosen(contexts: Mapping[str, Any], asked: str, current: Any) -> str:
    known = ", ".join(name[:63] for name in list(contexts)[:MOST_NAMED])
    if asked:
        if asked not in contexts:
            _refuse("NoSuchContext", NO_CONTEXT, context=asked[:63], known=known or "–")
        return asked
    if len(contexts) == 1:
        return next(iter(contexts))
    if not contexts:
        _refuse("NotKubeconfig", NOT_KUBECONFIG, what="contexts")
    # The current context is whatever its owner last worked with: too little to choose a cluster by.
    _refuse("SeveralContexts", CHOOSE, known=known)


def _named(document: Mapping[str, Any], plural: str, singular: str) -> dict[str, dict[str, Any]]:
    """The entries of a list by their names."""
    found: dict[str, dict[str, Any]] = {}
    for entry in document[plural]:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not isinstance(entry.get(singular), dict) or name in found:
            _refuse("NotKubeconfig", NOT_KUBECONFIG, what=plural)
        found[name] = entry[singular]
    return found


def _referred(document: Mapping[str, Any], plural: str, singular: str, context: Mapping[str, Any]) -> dict[str, Any]:
    found = _named(document, plural, singular).get(str(context.get(singular)))
    if found is None:
        _refuse("NotKubeconfig", NOT_KUBECONFIG, what=singular)
    return found


def _check(where: str, entry: Mapping[str, Any], known: set[str]) -> None:
    """Refuse what is dangerous first and by name, then what is not known."""
    if str(entry.get("insecure-skip-tls-verify", "false")).strip().lower() not in ("false", ""):
        _refuse("TlsCheckOff", SKIP_TLS)
    for field, value in entry.items():
        refused = _REFUSED.get(field.lower())
        if refused and value not in ("", [], {}):
            _refuse(*refused, field=field.lower())
    for field in entry:
        lowered = field.lower()
        if field in known or field in _ALWAYS_IGNORED or lowered in _REFUSED or field == "insecure-skip-tls-verify":
            continue
        # Its name is repeated only when it can be nothing but a name.
        _refuse("UnknownField", UNKNOWN, where=where, field=field if _FIELD_NAME.fullmatch(field) else "–")


def _text(entry: Mapping[str, Any], field: str) -> str:
    value = entry.get(field, "")
    if not isinstance(value, str):
        _refuse("NotAText", NOT_A_TEXT, field=field)
    return value


def _decoded(entry: Mapping[str, Any], field: str) -> str:
    text = "".join(_text(entry, field).split())
    try:
        if len(text) > 2 * LONGEST_PEM:
            raise ValueError
        return base64.b64decode(text, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        _refuse("NotBase64", NOT_BASE64, field=field)


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse("NotKubeconfig", NOT_KUBECONFIG, what=what)
    return value


def _refuse(reason: str, message: str, **facts: Any) -> NoReturn:
    raise KubeconfigRefused(reason, message, facts)


# --- YAML as plain data -------------------------------------------------------------------------------


def _load(text: str) -> Any:
    """Mappings, lists and texts; every scalar stays the text it was. Bounded before and while it is read."""
    if len(text) > LONGEST:
        _refuse("KubeconfigTooLong", TOO_LONG, length=len(text), maximum=LONGEST)
    if not text.strip() or _CONTROL.search(text):
        _refuse("NotText", NOT_TEXT)
    try:
        events = _bounded(yaml.parse(text, Loader=_LOADER))
        document = _node(events, next(events), 0)
        if next(events, None) is not None:
            _refuse("NotKubeconfig", NOT_KUBECONFIG, what="kubeconfig")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        _refuse("NotYaml", NOT_YAML, line=mark.line + 1 if mark else 1)
    except (yaml.YAMLError, ValueError, StopIteration) as error:
        if isinstance(error, BadInput):
            raise
        _refuse("NotYaml", NOT_YAML, line=1)
    return document


def _bounded(events: Iterable[Any]) -> Iterator[Any]:
    """The events that make up values; more than one document shows as more than one value."""
    for count, event in enumerate(events):
        if count > MOST_NODES:
            _refuse("TooDeep", TOO_DEEP)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) or getattr(event, "tag", None):
            _refuse("YamlReference", ALIAS)
        if not isinstance(
            event, yaml.StreamStartEvent | yaml.StreamEndEvent | yaml.DocumentStartEvent | yaml.DocumentEndEvent
        ):
            yield event


def _node(events: Iterator[Any], event: Any, depth: int) -> Any:
    if depth > DEEPEST:
        _refuse("TooDeep", TOO_DEEP)
    if isinstance(event, yaml.ScalarEvent):
        return "" if event.value in ("null", "~") and not event.style else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(one := next(events), yaml.SequenceEndEvent):
            items.append(_node(events, one, depth + 1))
        return items
    found: dict[str, Any] = {}
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        if not isinstance(key, yaml.ScalarEvent):
            _refuse("NotKubeconfig", NOT_KUBECONFIG, what="kubeconfig")
        if key.value in found:
            _refuse("RepeatedName", TWICE, line=key.start_mark.line + 1 if key.start_mark else 1)
        found[key.value] = _node(events, next(events), depth + 1)
    return found
