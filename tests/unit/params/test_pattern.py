"""Patterns mean what `re.fullmatch` means, and no pattern or value takes long."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.params.pattern import BadPattern, read_pattern

_ATOMS = st.sampled_from(["a", "b", "-", ".", "[ab]", "[^a]", "[a-c-]", r"\d", r"\W", r"\.", "é"])
_REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{0,2}", "{1,}"])


def _pieces(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.lists(inner, min_size=1, max_size=3).map(lambda parts: "(" + "|".join(parts) + ")")
    repeated = st.tuples(_ATOMS | group, _REPEATS).map("".join)
    return st.lists(repeated, min_size=1, max_size=3).map("".join)


_PATTERNS = st.recursive(_pieces(_ATOMS), _pieces, max_leaves=4)


@given(_PATTERNS, st.lists(st.text(alphabet="ab-1.é\nc", max_size=6), max_size=12))
def test_patterns_agree_with_the_standard_library(text: str, values: list[str]) -> None:
    try:
        pattern = read_pattern(text)
    except BadPattern as refused:
        assert refused.template.startswith("The pattern is too large")
        return
    for value in values:
        assert pattern.matches(value) == bool(re.fullmatch(text, value, re.ASCII)), (text, value)


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("^[a-z]+$", "abc", True),
        ("[a-z]+", "abc1", False),
        ("a|b", "b", True),
        ("(?:ab)*", "", True),
        (r"v\d+\.\d+", "v1.2", True),
        (r"v\d+", "v١", False),
        (r"\[\]\\\^", "[]\\^", True),
        ("[]", "]", None),
        ("[^]", "a", None),
    ],
)
def test_a_pattern_means_the_whole_value(text: str, value: str, fits: bool | None) -> None:
    if fits is None:
        with pytest.raises(BadPattern):
            read_pattern(text)
    else:
        assert read_pattern(text).matches(value) is fits


@pytest.mark.parametrize(
    "text",
    [
        "(?=a)",
        "(?P<n>a)",
        r"\1",
        r"\b",
        r"\u0041",
        "a**",
        "a+?",
        "[z-a]",
        "[a-\\d]",
        "(",
        "a)",
        "[",
        "\\",
        "{2}",
        "a{2",
        "a{3,2}",
        "a{1000}",
        "a^b",
        "a$b",
        "(" * 17 + ")" * 17,
        "a" * 257,
        "(a{99}){99}",
        "((){999}){999}",
    ],
)
def test_what_is_outside_the_subset_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BadPattern) as refused:
        read_pattern(text)
    assert str(refused.value)


@pytest.mark.parametrize(
    "text", ["(a+)+b", "(a|a)*b", "(a*)*(a*)*b", "((a?){100}a{20})", "(.*,){9}b", "(a{0,9}){0,14}"]
)
def test_catastrophic_patterns_answer_within_a_tenth_of_a_second(text: str) -> None:
    started = time.process_time()
    read_pattern.__wrapped__(text).matches("a" * 255 + "!")
    assert time.process_time() - started < 0.1


def test_a_value_beyond_the_limit_never_fits() -> None:
    assert read_pattern("a*").matches("a" * 256)
    assert not read_pattern("a*").matches("a" * 257)
