"""Versions of drivers against what a runtime states: a total order, and unknown is never outside."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.driver_fit import DriverFit, driver_fit, is_refused
from resources.versions import clean_range, read_version, within

NUMBERS = st.lists(st.integers(0, 999), min_size=1, max_size=4)
VERSIONS = st.builds(
    lambda numbers, candidate: ".".join(map(str, numbers)) + (f".rc{candidate}" if candidate is not None else ""),
    NUMBERS,
    st.none() | st.integers(0, 20),
)
RISING = [
    "24.1.rc1",
    "24.1.rc2",
    "24.1.RC10",
    "24.1",
    "24.1.0.3",
    "24.1.1",
    "535",
    "535.86.10",
    "550.54.14",
    "550.54.15",
]


@pytest.mark.parametrize(("low", "high"), list(pairwise(RISING)))
def test_versions_as_vendors_write_them_rise(low: str, high: str) -> None:
    assert within(high, clean_range(f">{low}")) is True
    assert within(low, clean_range(f">={high}")) is False
    assert within(low, clean_range(f"<{high}")) is True


@given(VERSIONS, VERSIONS)
def test_of_two_versions_one_is_below_or_they_are_the_same(one: str, other: str) -> None:
    answers = [within(one, clean_range(f"{sign}{other}")) for sign in ("<", "=", ">")]
    assert answers.count(True) == 1 and answers.count(False) == 2
    assert within(one, clean_range(f">={other}")) is not within(one, clean_range(f"<{other}"))


@given(VERSIONS, VERSIONS, VERSIONS)
def test_the_order_is_one(a: str, b: str, c: str) -> None:
    if within(a, clean_range(f"<={b}")) and within(b, clean_range(f"<={c}")):
        assert within(a, clean_range(f"<={c}"))


@given(NUMBERS, st.integers(0, 3))
def test_zeros_at_the_end_and_words_behind_change_nothing(numbers: list[int], zeros: int) -> None:
    version = ".".join(map(str, numbers))
    same = ".".join(map(str, [*numbers, *([0] * min(zeros, 6 - len(numbers)))]))
    assert within(same, clean_range(f"={version}")) is True
    for written in (f"v{version}", f"{version}-ubuntu2204", f"{version}+cu12", f"{version} "):
        assert read_version(written) == read_version(version)


@given(st.text(max_size=30))
def test_whatever_a_node_reports_is_read_or_unknown(text: str) -> None:
    assert within(text, ">=1") in (True, False, None)
    assert (driver_fit([text], ">=1") is DriverFit.UNKNOWN) == (read_version(text) is None)


@given(st.text(max_size=40))
def test_a_range_is_read_the_same_when_it_was_cleaned(text: str) -> None:
    from portal.lib.text import BadInput

    try:
        cleaned = clean_range(text)
    except BadInput:
        return
    assert clean_range(cleaned) == cleaned


@pytest.mark.parametrize(
    ("versions", "stated", "wanted"),
    [
        (["550.54.15"], ">=535, <560", DriverFit.WITHIN),
        (["550.54.15", "470.1"], ">=535", DriverFit.OUTSIDE),
        (["550.54.15", ""], ">=535", DriverFit.UNKNOWN),
        (["470.1", ""], ">=535", DriverFit.OUTSIDE),
        ([""], ">=535", DriverFit.UNKNOWN),
        (["unknown"], ">=535", DriverFit.UNKNOWN),
        ([""], "", DriverFit.WITHIN),
        ([], ">=535", DriverFit.WITHIN),
        (["24.1.rc2"], ">=24.1.rc1, <24.1", DriverFit.WITHIN),
        (["24.1.rc2"], ">=24.1", DriverFit.OUTSIDE),
    ],
)
def test_drivers_of_a_node(versions: list[str], stated: str, wanted: DriverFit) -> None:
    assert driver_fit(versions, clean_range(stated)) is wanted


@given(st.lists(VERSIONS | st.just(""), max_size=4), VERSIONS)
def test_more_devices_never_make_a_node_fit_better(versions: list[str], bound: str) -> None:
    order = [DriverFit.WITHIN, DriverFit.UNKNOWN, DriverFit.OUTSIDE]
    fits = [order.index(driver_fit(versions[:count], f">={bound}")) for count in range(len(versions) + 1)]
    assert fits == sorted(fits)


def test_unknown_is_refused_by_a_pools_rule_only() -> None:
    assert [is_refused(fit, known_only=False) for fit in DriverFit] == [False, True, False]
    assert [is_refused(fit, known_only=True) for fit in DriverFit] == [False, True, True]
