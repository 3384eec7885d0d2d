"""How clusters are reached: connections with their secrets opened, and what can be told without opening any."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

from django.conf import settings

from resources.attaching import Pieces
from resources.credentials import opened
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.given import Certificate, describe, ends_at, fingerprint
from resources.drivers.kubernetes.rights import Access, Ask, Feature, Line, features_of, features_off, lines, too_much
from resources.models import Cluster, ClusterCredential, ClusterEndpoint
from resources.vault import CannotOpen

WARN_BEFORE: Final = timedelta(days=14)
"""From when on the end of a credential or authority is warned of."""


def connection_of(cluster: Cluster) -> Connection:
    """How to reach it, secrets included; keep it in memory only.

    Raises DriverUnavailable: `CredentialMissing` when nobody gave any, `VaultKeyMissing` when they are sealed with a
    key this installation does not have.
    """
    endpoint = ClusterEndpoint.objects.filter(cluster=cluster).first()
    rows = list(ClusterCredential.objects.filter(cluster=cluster)) if endpoint else []
    if endpoint is None or not rows:
        raise DriverUnavailable(f"no credential is stored for {cluster.key}", reason="CredentialMissing")
    return Connection(
        server=endpoint.server,
        authority_pem=endpoint.authority_pem,
        credentials={Right(row.right): _opened(row) for row in rows},
        server_name=endpoint.server_name,
        namespace=endpoint.namespace,
        networks=settings.CLUSTER_NETWORKS,
    )


def permission_asker(cluster: Cluster) -> Ask:
    """Asks the cluster what a credential of it may do; the first question opens the connection.

    Each question may raise DriverUnavailable.
    """
    # The client is needed by this alone: pages that ask nothing do not load it.
    from resources.drivers.kubernetes.api import Api  # noqa: PLC0415
    from resources.drivers.kubernetes.review import asker  # noqa: PLC0415

    @cache
    def opened_asker() -> Ask:
        return asker(Api(connection_of(cluster)))

    def ask(right: Right, attributes: Mapping[str, str]) -> bool | None:
        return opened_asker()(right, attributes)

    return ask


def connection_version(cluster: Cluster) -> str:
    """A text that is another after every change of endpoint or credentials; "" when there is none. One query."""
    found = ClusterEndpoint.objects.filter(cluster=cluster).values_list("version", flat=True).first()
    return "" if found is None else f"{cluster.pk}:{found}"


def _opened(row: ClusterCredential) -> Credential:
    try:
        return opened(row)
    except CannotOpen as error:
        detail = f"the {row.right} credential cannot be opened: {error}"
        raise DriverUnavailable(detail, reason="VaultKeyMissing") from error


# --- for pages and API --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RightRow:
    """One of the three rights: its credential, if any, and what the cluster said it may do."""

    right: Right
    credential: ClusterCredential | None
    lines: tuple[Line, ...]
    off: tuple[Feature, ...]
    too_much: tuple[Access, ...]
    ends: str
    """"", "soon" or "ended"."""

    @property
    def missing(self) -> int:
        """Resources of which a verb is missing."""
        return sum(line.standing == "missing" for line in self.lines)

    @property
    def standing(self) -> str:
        """absent, not_asked, missing or granted, as of the last review."""
        if self.credential is None:
            return "absent"
        if self.credential.reviewed_at is None:
            return "not_asked"
        found = {line.standing for line in self.lines}
        return "missing" if "missing" in found else "not_asked" if "not_asked" in found else "granted"


@dataclass(frozen=True, slots=True)
class AccessCard:
    """How a cluster is reached."""

    endpoint: ClusterEndpoint
    authority: tuple[Certificate, ...]
    rights: tuple[RightRow, ...]

    @property
    def too_much(self) -> bool:
        """Whether any credential may do what none should."""
        return any(row.too_much for row in self.rights)


def access_card(cluster: Cluster, now: datetime) -> AccessCard | None:
    """What is known without opening a secret; None for a cluster that is not reached over a network. Two queries."""
    endpoint = ClusterEndpoint.objects.filter(cluster=cluster).first()
    if endpoint is None:
        return None
    rows = {row.right: row for row in ClusterCredential.objects.filter(cluster=cluster).select_related("created_by")}
    rights = tuple(_right_row(right, rows.get(right), endpoint.namespace, now) for right in Right)
    return AccessCard(endpoint, tuple(describe(endpoint.authority_pem)), rights)


def told(pieces: Pieces) -> dict[str, Any]:
    """What may be shown of a connection that is not stored yet."""
    return {
        "server": pieces.server,
        "server_name": pieces.server_name,
        "namespace": pieces.namespace,
        "authority": describe(pieces.authority_pem),
        "credentials": [
            {
                "right": right,
                "kind": "certificate" if one.certificate_pem else "token",
                "fingerprint": fingerprint(one),
                "expires_at": ends_at(one),
            }
            for right, one in pieces.credentials.items()
        ],
        "off": [feature for right in Right if right not in pieces.credentials for feature in features_of(right)],
    }


def ends_word(moment: datetime | None, now: datetime) -> str:
    """ "ended", "soon" within WARN_BEFORE, else ""."""
    if moment is None or moment - now > WARN_BEFORE:
        return ""
    return "soon" if moment > now else "ended"


def _right_row(right: Right, row: ClusterCredential | None, namespace: str, now: datetime) -> RightRow:
    answers: Mapping[str, bool | None] = row.answers if row else {}
    return RightRow(
        right=right,
        credential=row,
        lines=tuple(lines(right, namespace, answers)),
        off=tuple(features_off(right, namespace, answers if row else None)),
        too_much=tuple(too_much(namespace, answers)),
        ends=ends_word(row.expires_at, now) if row else "",
    )
