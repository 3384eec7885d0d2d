"""Names, notes and slugs: what is refused, what is kept, and which names count as the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lib import text
from tests.data import hostile

CLEANERS = {
    "name": text.clean_name,
    "text": text.clean_line,
    "note": text.clean_note,
    "slug": text.clean_slug,
}


@pytest.mark.parametrize("kind", CLEANERS)
def test_hostile_text_is_refused_within_ten_milliseconds(kind: str) -> None:
    for bad in hostile.for_type(kind):
        with hostile.told(bad, seconds=0.010):
            with pytest.raises(text.BadInput) as refused:
                CLEANERS[kind](bad.value)
            assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", hostile.HARMLESS_NAMES)
def test_awkward_honest_names_are_kept_to_the_last_code_point(name: str) -> None:
    assert text.clean_name(name) == name


@pytest.mark.parametrize("cell", hostile.FORMULAS[:4])
def test_formulas_are_text_like_any_other(cell: str) -> None:
    assert text.clean_name(cell) == cell


def test_outer_spaces_are_not_part_of_a_name() -> None:
    assert text.clean_name("  Ada \u3000") == "Ada"


def test_the_length_limit_counts_code_points_and_names_both_numbers() -> None:
    assert text.clean_name("🚀" * 120) == "🚀" * 120
    with pytest.raises(text.BadInput) as refused:
        text.clean_name("🚀" * 121)
    assert refused.value.reason == "TooLong"
    assert refused.value.facts == {"length": 121, "maximum": 120}


def test_a_refused_character_is_named_by_code_and_place() -> None:
    with pytest.raises(text.BadInput) as refused:
        text.clean_name("ab\u202ec")
    assert refused.value.facts == {"code": "U+202E", "position": 3}


def test_a_note_keeps_its_lines_and_tabs() -> None:
    assert text.clean_note("one\r\ntwo\n\tthree\n") == "one\ntwo\n\tthree"


@pytest.mark.parametrize("slug", ["a", "team-1", "0", "a" * 63])
def test_dns_labels_are_slugs(slug: str) -> None:
    assert text.clean_slug(slug) == slug


def test_a_slug_may_be_bounded_tighter() -> None:
    with pytest.raises(text.BadInput):
        text.clean_slug("a" * 41, maximum=40)


@pytest.mark.parametrize(("honest", "lookalike"), hostile.LOOKALIKES)
def test_lookalike_names_share_a_key(honest: str, lookalike: str) -> None:
    assert text.name_key(honest) == text.name_key(lookalike)


@pytest.mark.parametrize(
    ("one", "other"), [("Team 1", "Team 2"), ("cafe", "café"), ("n", "v"), ("算力", "算法"), ("Σ", "S")]
)
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert text.name_key(one) != text.name_key(other)


@given(st.text(max_size=60))
def test_the_key_of_a_key_is_itself(name: str) -> None:
    assert text.name_key(text.name_key(name)) == text.name_key(name)


@given(st.text(alphabet=st.characters(max_codepoint=0x24F, exclude_categories=["Cc", "Cs"]), max_size=40))
def test_latin_names_that_differ_in_case_only_share_a_key(name: str) -> None:
    assert text.name_key(name) == text.name_key(name.casefold())


@given(st.text(max_size=130))
def test_an_accepted_name_can_be_stored_and_shown(name: str) -> None:
    try:
        kept = text.clean_name(name)
    except text.BadInput:
        return
    assert kept.encode("utf-8")
    assert kept in name
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in kept)
