"""Which addresses a cluster may have, in every spelling a resolver would take."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.drivers.kubernetes.addresses import AddressRefused, allowed_address, is_literal

EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))


def reason(address: str, networks=()) -> str:
    try:
        allowed_address(address, networks)
    except AddressRefused as refused:
        return refused.reason
    return ""


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.7.7", "203.0.113.9", "fd12::1", "2001:db8::1", "100.64.0.1"])
def test_ordinary_and_private_addresses_are_allowed(address):
    assert reason(address) == ""


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("169.254.169.254", "LinkLocalAddress"),
        ("169.254.0.1", "LinkLocalAddress"),
        ("169.254.170.2", "LinkLocalAddress"),
        ("fe80::1", "LinkLocalAddress"),
        ("fd00:ec2::254", "MetadataAddress"),
        ("fd20:ce::254", "MetadataAddress"),
        ("100.100.100.200", "MetadataAddress"),
        ("168.63.129.16", "MetadataAddress"),
        ("192.0.0.192", "MetadataAddress"),
        ("0.0.0.0", "UnspecifiedAddress"),
        ("0.1.2.3", "UnspecifiedAddress"),
        ("::", "UnspecifiedAddress"),
        ("224.0.0.1", "MulticastAddress"),
        ("ff02::1", "MulticastAddress"),
        ("255.255.255.255", "ReservedAddress"),
        ("192.0.0.8", "ReservedAddress"),
    ],
)
def test_what_is_no_cluster_is_refused_even_when_every_network_is_listed(address, wanted):
    assert reason(address) == reason(address, EVERYTHING) == wanted


@pytest.mark.parametrize(
    "written",
    [
        "::ffff:{v4}",  # mapped
        "::ffff:0:{v4}",  # translated
        "::{v4}",  # compatible
        "64:ff9b::{v4}",  # NAT64
        "64:ff9b:1::{v4}",
        "2002:{hex}::1",  # 6to4
        "2001:0:{hex}::1",  # Teredo's server
        "2001:0:0a00:1::{inverted}",  # Teredo's client
    ],
)
@pytest.mark.parametrize("v4", ["169.254.169.254", "127.0.0.1", "100.100.100.200"])
def test_an_ipv6_address_that_carries_a_refused_one_is_refused(written, v4):
    parts = [int(part) for part in v4.split(".")]
    pairs = [f"{parts[0]:02x}{parts[1]:02x}", f"{parts[2]:02x}{parts[3]:02x}"]
    inverted = ":".join(f"{int(pair, 16) ^ 0xFFFF:04x}" for pair in pairs)
    assert reason(written.format(v4=v4, hex=":".join(pairs), inverted=inverted)) != ""


def test_loopback_needs_its_network():
    listed = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    for address in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        assert (reason(address), reason(address, listed)) == ("LoopbackAddress", "")
    assert reason("127.0.0.1", (ip_network("10.0.0.0/8"),)) == "LoopbackAddress"


@pytest.mark.parametrize(
    "address", ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "010.0.0.1", "fe80::1%eth0"]
)
def test_other_spellings_of_addresses_are_neither_names_nor_addresses(address):
    assert is_literal(address) and reason(address) == "NotAnAddress"


@pytest.mark.parametrize("name", ["api.example.org", "k8s-1", "10.example.org", "x0x7f", "a.b.c0"])
def test_names_are_no_addresses(name):
    assert not is_literal(name)


@given(st.text(max_size=60) | st.ip_addresses().map(str))
def test_any_text_is_allowed_or_refused(text):
    reason(text, EVERYTHING)
