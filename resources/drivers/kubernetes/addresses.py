"""Which addresses a cluster may have. Pure: whoever connects looks names up, and asks here about each address.

A name is checked by what it means when connecting, never by what it meant when it was typed (DNS rebinding).
"""

import re
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from portal.lib.text import BadInput, gettext_noop

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

METADATA: Final = gettext_noop(
    "{address} is where machines of a cloud ask for their credentials. No cluster lives there."
)
LINK_LOCAL: Final = gettext_noop(
    "{address} is link-local: it means another machine on each network. Give a routed one."
)
LOOPBACK: Final = gettext_noop(
    "{address} is this machine itself. PORTAL_CLUSTER_NETWORKS must list it before a cluster may be there."
)
UNSPECIFIED: Final = gettext_noop("{address} is no machine's address. Give the address of the API server.")
MULTICAST: Final = gettext_noop("{address} is a group of machines. Give the address of the API server.")
RESERVED: Final = gettext_noop("{address} is reserved and belongs to no machine. Give the address of the API server.")
NOT_AN_ADDRESS: Final = gettext_noop("{address} is no address in its usual spelling. Write it as 10.1.2.3 or fd00::1.")

# Where clouds hand out credentials outside of the link-local range (Alibaba, Azure, Oracle; AWS, GCP and Scaleway
# over IPv6).
_METADATA: Final = tuple(
    ip_network(text)
    for text in (
        "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
        "fd00:ec2::/32", "fd20:ce::254/128", "fd00:42::42/128",
    )
)  # fmt: skip
_LINK_LOCAL: Final = tuple(ip_network(text) for text in ("169.254.0.0/16", "fe80::/10", "fec0::/10"))
_LOOPBACK: Final = tuple(ip_network(text) for text in ("127.0.0.0/8", "::1/128"))
_UNSPECIFIED: Final = tuple(ip_network(text) for text in ("0.0.0.0/8", "::/128"))
_MULTICAST: Final = tuple(ip_network(text) for text in ("224.0.0.0/4", "ff00::/8"))
_RESERVED: Final = tuple(ip_network(text) for text in ("240.0.0.0/4", "192.0.0.0/24", "100::/64"))
_NEVER: Final = (
    ("MetadataAddress", METADATA, _METADATA),
    ("LinkLocalAddress", LINK_LOCAL, _LINK_LOCAL),
    ("UnspecifiedAddress", UNSPECIFIED, _UNSPECIFIED),
    ("MulticastAddress", MULTICAST, _MULTICAST),
    ("ReservedAddress", RESERVED, _RESERVED),
)
# IPv6 ranges that carry an IPv4 address, and how far its last bit is from the end.
_CARRIERS: Final = (
    (IPv6Network("::ffff:0:0/96"), 0),  # mapped
    (IPv6Network("::ffff:0:0:0/96"), 0),  # translated
    (IPv6Network("::/96"), 0),  # compatible
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (IPv6Network("64:ff9b:1::/48"), 0),  # NAT64 of one's own, in its /96 form
    (IPv6Network("2002::/16"), 80),  # 6to4
)
_TEREDO: Final = IPv6Network("2001::/32")
_LAST_LABEL_IS_A_NUMBER: Final = re.compile(r"(?:\A|\.)(?:[0-9]+|0x[0-9a-f]*)\.?\Z", re.ASCII | re.IGNORECASE)


class AddressRefused(BadInput):
    """No cluster may be reached at this address."""


def allowed_address(address: str, networks: Iterable[Network] = ()) -> None:
    """Nothing for an address that may be connected to. Raises AddressRefused.

    Private ranges are ordinary. Loopback needs an entry in `networks`; link-local and metadata addresses are refused
    even then, and so is every IPv6 address that carries a refused IPv4 one.
    """
    opened = tuple(networks)
    for one in _with_carried(_parse(address)):
        for reason, message, ranges in _NEVER:
            if _within(one, ranges):
                raise AddressRefused(reason, message, {"address": address})
        if _within(one, _LOOPBACK) and not _within(one, opened):
            raise AddressRefused("LoopbackAddress", LOOPBACK, {"address": address})


def is_literal(host: str) -> bool:
    """Whether a resolver would take this host for an address and not for a name, in whatever spelling.

    `2130706433`, `0x7f.1` and `0177.0.0.1` are 127.0.0.1 to a C library: `allowed_address` refuses such spellings.
    """
    return ":" in host or bool(_LAST_LABEL_IS_A_NUMBER.search(host))


def _parse(address: str) -> Address:
    if "%" not in address:  # a zone belongs to link-local addresses only
        try:
            return ip_address(address)
        except ValueError:
            pass
    raise AddressRefused("NotAnAddress", NOT_AN_ADDRESS, {"address": address[:60]})


def _with_carried(address: Address) -> Iterator[Address]:
    """The address, and the IPv4 ones that it would lead to."""
    if isinstance(address, IPv4Address):
        yield address
        return
    carried = list(_carried(address))
    # ::1 and :: lie in the range of compatible addresses and are themselves.
    if int(address) <= 1 or not carried:
        yield address
    yield from carried if int(address) > 1 else ()


def _carried(address: IPv6Address) -> Iterator[IPv4Address]:
    for network, shift in _CARRIERS:
        if address in network:
            yield IPv4Address(int(address) >> shift & 0xFFFF_FFFF)
    if address in _TEREDO:
        yield IPv4Address(int(address) >> 64 & 0xFFFF_FFFF)
        yield IPv4Address(~int(address) & 0xFFFF_FFFF)


def _within(address: Address, ranges: Iterable[Network]) -> bool:
    return any(address in network for network in ranges if network.version == address.version)
