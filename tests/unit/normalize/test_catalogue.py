"""A vendor or model is a row, never code; a row that cannot be used is refused with its place."""

import tomllib
from pathlib import Path

import pytest

from resources.normalize import BadCatalogue, Catalogue, load_catalogue, parse_catalogue, read_node
from resources.normalize.reasons import SENTENCES
from tests.unit.normalize.nodes import MIB, a_node, only, told

ROWS = """
[[vendor]]
key = "acme"
name = "Acme Tensor"
kind = "tensor"
main = "acme.example/card"

[[resource]]
match = 'acme\\.example/card'
vendor = "acme"
most = 4

[[resource]]
match = 'acme\\.example/part-(?P<profile>.+)'
vendor = "acme"
sharing = "parts"
unit = "slice"
of = 'acme\\.example/card'

[[resource]]
match = 'acme\\.example/sram'
role = "companion"
vendor = "acme"
unit = "MiB"

[[label]]
vendor = "acme"
fact = "model"
keys = ["acme.example/model"]

[[label]]
vendor = "acme"
fact = "memory"
keys = ["acme.example/memory-mib"]
unit = 1048576

[[label]]
vendor = "acme"
fact = "count"
keys = ["acme.example/cards"]

[[label]]
vendor = "acme"
fact = "runtime"
name = "acme_runtime"
keys = ["acme.example/rt.major", "acme.example/rt.minor"]

[[register]]
vendor = "acme"
match = 'acme\\.example/list'
resource = 'acme\\.example/card'
"""


def with_rows(rows: str) -> Catalogue:
    return load_catalogue().merged(parse_catalogue(tomllib.loads(rows), known=list(load_catalogue().vendors)))


def test_a_made_up_vendor_is_read_by_its_rows_alone() -> None:
    book = with_rows(ROWS)
    labels = {
        "acme.example/model": "T-9",
        "acme.example/memory-mib": "4096",
        "acme.example/cards": "4",
        "acme.example/rt.major": "2",
        "acme.example/rt.minor": "07",
    }
    capacity = {"acme.example/card": "3", "acme.example/part-half": "2", "acme.example/sram": "64"}
    reading = read_node(a_node(capacity, labels=labels), catalogue=book)
    whole, parts = reading.devices
    assert (whole.vendor, whole.kind, whole.verified) == ("acme", "tensor", False)
    assert told(whole) == ("T-9", 4096 * MIB, 3, 3, 3, "exclusive", "healthy")
    assert told(parts) == ("T-9", None, 1, 2, 2, "parts", "healthy")
    assert [one.resource for one in reading.companions] == ["acme.example/sram"]
    assert [(one.part, one.version) for one in reading.software] == [("acme_runtime", "2.07")]


def test_its_lists_of_cards_need_no_code_either() -> None:
    node = a_node(
        {"acme.example/card": "8"}, annotations={"acme.example/list": '[{"id": "a", "count": 8, "type": "T-9"}]'}
    )
    assert told(only(read_node(node, catalogue=with_rows(ROWS))))[:6] == ("T-9", None, 1, 8, 8, "hami")
    assert read_node(node).devices == ()


def test_rows_laid_over_the_catalogue_come_first() -> None:
    book = with_rows("[[resource]]\nmatch = 'nvidia\\.com/gpu'\nvendor = \"amd\"\n")
    assert only(read_node(a_node({"nvidia.com/gpu": "1"}), catalogue=book)).vendor == "amd"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("[[resource]]\nmatch = '('\nvendor = \"amd\"", "resource 1: match"),
        ('[[resource]]\nvendor = "amd"', "resource 1: match is missing"),
        ("[[resource]]\nmatch = 'a'\nvendor = \"amd\"\ncolour = 1", "unknown field colour"),
        ("[[resource]]\nmatch = 'a'\nvendor = \"nobody\"", "no vendor nobody"),
        ("[[resource]]\nmatch = 'a'", "a device needs a vendor"),
        ('[[resource]]\nmatch = \'a\'\nvendor = "amd"\nrole = "king"', "a role is one of"),
        ('[[label]]\nvendor = "amd"\nfact = "mood"\nkeys = ["a"]', "fact of"),
        ('[[label]]\nvendor = "amd"\nfact = "model"', "needs keys or match"),
        (f"[[resource]]\nmatch = '{'a' * 301}'\nvendor = \"amd\"", "at most 300"),
        ('[[resource]]\nmatch = 7\nvendor = "amd"', "resource 1: match"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused(rows: str, said: str) -> None:
    with pytest.raises(BadCatalogue, match=said):
        parse_catalogue(tomllib.loads(rows), known=["amd"])


def test_every_main_resource_and_reason_of_the_catalogue_is_known() -> None:
    book = load_catalogue()
    for vendor in book.vendors.values():
        known = book.rule_of(vendor.main)
        assert known is not None and known[0].vendor == vendor.key and known[0].role == "device", vendor.key
    assert {rule.reason for rule in book.state_lists} <= set(SENTENCES)


def test_no_row_names_anything_of_the_test_data() -> None:
    patterns = [rule.match.pattern for rule in load_catalogue().resources]
    assert len(set(patterns)) == len(patterns)
    assert not any(word in pattern for pattern in patterns for word in ("cerit", "deepomatic", "node-"))


def test_the_page_on_the_normaliser_lists_every_reason_and_word_of_sharing() -> None:
    page = (Path(__file__).parents[3] / "docs" / "normalizer.md").read_text(encoding="utf-8")
    for name, text in SENTENCES.items():
        assert f"| `{name}` | {text} |" in page
    book = load_catalogue()
    words = {rule.sharing for rule in book.resources} | {word for rule in book.dra for word in rule.sharing.values()}
    words |= {rule.profile_sharing for rule in book.labels if rule.profile_sharing}
    assert all(f"`{word}`" in page for word in words)
