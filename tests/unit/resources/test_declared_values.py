"""Values that people declare: images, ranges of versions, patterns, tolerations. What is not one is refused."""

import time

import pytest

from portal.lib.text import BadInput
from resources.declared_inputs import (
    DECLARED_READERS,
    read_labels,
    read_pattern,
    read_tolerations,
    tolerations_of,
    write_tolerations,
)
from resources.images import Image, clean_image, is_pinned, read_image, require_registry
from resources.versions import clean_range, within

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("registry.example/tools", Image("registry.example", "tools")),
        ("registry.example:5000/team/py-torch:2.4_cu12", Image("registry.example:5000", "team/py-torch", "2.4_cu12")),
        (f"localhost/a@{DIGEST}", Image("localhost", "a", "", DIGEST)),
        (f"r.example/a/b__c:v1@{DIGEST}", Image("r.example", "a/b__c", "v1", DIGEST)),
    ],
)
def test_an_image_is_read_into_its_parts(text, parts):
    assert read_image(text) == parts
    assert clean_image(f"  {text} ") == text
    assert is_pinned(text) == parts.pinned == bool(parts.digest)


@pytest.mark.parametrize(
    "text",
    [
        "tools", "team/tools", "library/tools:1", "registry.example/", "registry.example/Tools", "registry.example/a:",
        "registry.example/a@", "registry.example/a@sha256:abc", f"registry.example/a@{DIGEST.upper()}",
        "registry.example/a b", "registry.example/a\n", "http://registry.example/a", "registry.example/a/../b",
        "registry.example/а", "registry.example//a", "registry.example/a:b:c", "-r.example/a", "registry.example/-a",
        f"registry.example/{'a' * 600}", "registry.example:0/a", "user@registry.example/a", 7, None,
    ],
)  # fmt: skip
def test_what_is_no_image_is_refused(text):
    with pytest.raises(BadInput):
        read_image(text)


def test_only_listed_registries_pass_where_there_is_a_list():
    require_registry("a.example/x:1", [])
    require_registry("a.example/x:1", ["a.example"])
    require_registry("", ["a.example"])
    with pytest.raises(BadInput, match=r"RegistryNotAllowed.*b\.example.*a\.example"):
        require_registry("b.example/x:1", ["a.example"])


@pytest.mark.parametrize(
    ("version", "stated", "fits"),
    [
        ("535.104.5", ">=535", True),
        ("535.104.5", ">=535.104.6", False),
        ("535", ">=535.0, <600", True),
        ("600.0", ">=535,<600", False),
        ("v24.1.rc1", ">=24.1", False),  # a candidate comes before its release
        ("v24.1.rc1", ">=24.1.rc1", True),
        ("", ">=1", None),
        ("unknown", ">=1", None),
        ("550-server", "=550", True),
        ("anything", "", True),
    ],
)
def test_a_version_is_within_bounds_or_not_or_nobody_knows(version, stated, fits):
    assert within(version, clean_range(stated)) is fits


@pytest.mark.parametrize(
    "text", ["535", ">535 <600", ">=a", ">=1,,<2", "~=1", ">=1, >=1, >=1, >=1, >=1", ">=" + "1." * 90]
)
def test_what_is_no_range_is_refused(text):
    with pytest.raises(BadInput):
        clean_range(text)


@pytest.mark.parametrize(
    "text", ["(a+)+$", "acme.example/(a|a)*$", "a.example/**", "a.example/*b*", "npu", ".*", "a/[x]", ""]
)
def test_no_expression_of_a_person_is_ever_run(text):
    with pytest.raises(BadInput):
        read_pattern(text)


def test_a_pattern_is_tried_in_time_that_grows_with_the_name():
    from resources.vendor_rows import matches

    begun = time.perf_counter()
    assert not matches(read_pattern("acme.example/" + "a" * 40 + "*b"), "acme.example/" + "a" * 100_000)
    assert time.perf_counter() - begun < 0.5
    assert matches("acme.example/npu-*", "acme.example/npu-x2")
    assert not matches("acme.example/npu-*", "acme.example/npu-x/2")
    assert not matches("acme.example/npu", "acmeXexample/npu")


def test_tolerations_are_read_as_taints_are_written():
    text = "gpu=yes:NoSchedule\n\nvendor.example/npu:NoExecute\nempty=:PreferNoSchedule"
    rows = tolerations_of(text)
    assert rows == [
        {"key": "gpu", "value": "yes", "effect": "NoSchedule"},
        {"key": "vendor.example/npu", "effect": "NoExecute"},
        {"key": "empty", "value": "", "effect": "PreferNoSchedule"},
    ]
    assert tolerations_of(write_tolerations(rows)) == rows == read_tolerations(rows)


@pytest.mark.parametrize(
    "text",
    [
        "gpu",
        "gpu=yes",
        ":NoSchedule",
        "a b:NoSchedule",
        "a:Never",
        "a=b c:NoSchedule",
        "\n".join(["a:NoSchedule"] * 21),
    ],
)
def test_what_is_no_toleration_is_refused(text):
    with pytest.raises(BadInput):
        tolerations_of(text)


@pytest.mark.parametrize(
    "value",
    [
        [{"key": "a"}],
        [{"key": "a", "effect": "NoSchedule", "operator": "Exists"}],
        [7],
        "a",
        {"a": 1},
        [{"key": 1, "effect": 2}],
    ],
)
def test_no_other_field_of_a_toleration_passes(value):
    with pytest.raises(BadInput):
        read_tolerations(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kinds", []), ("kinds", ["MEMORY"]), ("kinds", "CPU"), ("task_types", ["gaming"]), ("classes", ["A b"]),
        ("runtime_class", "Upper"), ("scheduler_name", "a..b"), ("relaxation", "root"), ("source", " "),
        ("as_of", "2026-13-01"), ("as_of", "30.11.2026"), ("amount", 0), ("amount", True), ("amount", 1.5),
        ("evidence_job", "j-1"), ("model_label", "a b"),
    ],
)  # fmt: skip
def test_single_values_are_read_strictly(name, value):
    with pytest.raises(BadInput):
        DECLARED_READERS[name](value)


def test_a_pool_has_few_labels():
    assert read_labels({"a": "b"}) == {"a": "b"}
    with pytest.raises(BadInput):
        read_labels({f"l{n}": "x" for n in range(6)})
