"""Nodes from public trackers and documents read as a careful person reads them; `notes` names each one's trap."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from resources.normalize import as_json, parse_document, read_document

FOLDER = Path(__file__).parents[2] / "data" / "nodes"
FILES = sorted(path for path in FOLDER.glob("*.json") if not path.name.endswith(".expected.json"))
FACTS = (
    "vendor", "kind", "resource", "memory_bytes_per_device", "physical_total", "slots_total", "slots_schedulable",
    "sharing", "health", "profile", "cores", "slots_requested", "slots_free",
)  # fmt: skip
# Read on top of what the expected reading names.
BEYOND = {"72-dra-amd-partitions-v1beta1": {"driver": "6.16.6"}}


def same_model(name: str | None) -> str | None:
    return name and re.sub(r"[-_\s]+", " ", name.lower()).strip()


def in_order(devices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(devices, key=lambda one: (one["resource"], same_model(one["model"]) or ""))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_public_node_reads_as_expected(path: Path) -> None:
    want = json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8"))
    got = as_json(read_document(parse_document(path.read_text(encoding="utf-8"))))
    assert {key: got["host"].get(key) for key in want["host"]} == want["host"]
    for key in ("ready", "schedulable", "blocking_taints"):
        assert got["node"].get(key) == want["node"].get(key)
    assert len(got["node"].get("reasons", [])) == len(want["node"].get("reasons", []))
    pairs = zip(in_order(want["devices"]), in_order(got["devices"]), strict=True)
    for expected, group in pairs:
        assert {key: group.get(key) for key in FACTS} == {key: expected.get(key) for key in FACTS}, want.get("notes")
        assert same_model(group["model"]) == same_model(expected["model"])
        assert not expected["reasons"] or group["reasons"]
    assert sorted(got["ignored_resources"]) == sorted(want["ignored_resources"])
    belongs = {key: one["belongs_to"] for key, one in want.get("companion_resources", {}).items()}
    assert {key: one["belongs_to"] for key, one in got["companion_resources"].items()} == belongs
    assert got["driver"] == want["driver"] | BEYOND.get(path.stem, {})


def test_the_corpus_is_here() -> None:
    assert len(FILES) == 49
