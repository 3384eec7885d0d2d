"""Cutting and rating: nothing lost, nothing counted twice, no rate is no price."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from metering.rating import Rate, amount, cut, months_between, phases

BASE = datetime(2026, 3, 31, 23, tzinfo=UTC)


def at(ms: int) -> datetime:
    return BASE + timedelta(milliseconds=ms)


def a_rate(start: int, end: int | None, price: int | None = 1_000_000) -> Rate:
    return Rate("r", at(start), None if end is None else at(end), price, None, "points", 1000)


moments = st.integers(0, 10_000_000).map(at)


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.lists(moments), st.lists(st.integers(0, 10**7), max_size=4))
def test_pieces_add_up_to_the_whole_to_the_millisecond(start, length, boundaries, edges):
    edges = sorted(set(edges))
    rates = [a_rate(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    pieces = list(cut(at(start), at(start + length), rates, boundaries))
    assert sum(p.ms for p in pieces) == length
    assert all(a.end == b.start for a, b in pairwise(pieces))
    for piece in pieces:
        inside = [r for r in rates if r.start <= piece.start and (r.end is None or piece.end <= r.end)]
        assert piece.rate is (inside[0] if inside else None)


def test_a_price_change_in_the_middle_cuts_and_rates_each_part_by_its_own():
    rates = [a_rate(0, 1000, 1), a_rate(1000, None, 2)]
    pieces = list(cut(at(500), at(1500), rates))
    assert [(p.ms, p.rate.price_micro if p.rate else None) for p in pieces] == [(500, 1), (500, 2)]


def test_no_rate_is_unrated_and_never_zero():
    (piece,) = cut(at(0), at(10), [])
    assert piece.rate is None
    assert amount(1, 10, None, 1000) is None


def test_one_core_for_one_hour_at_one_point_is_one_point():
    assert amount(1_000, 3_600_000, 1_000_000, 1_000) == Decimal(1_000_000)


def test_a_month_edge_is_a_boundary():
    assert list(months_between(at(0), at(7_200_000))) == [datetime(2026, 4, 1, tzinfo=UTC)]
    assert list(months_between(at(0), datetime(2026, 4, 1, tzinfo=UTC))) == []


@given(*[st.one_of(st.none(), moments)] * 3, moments)
def test_phases_cover_the_allocation_without_gap_or_overlap(bound, started, stopped, released):
    spans = list(phases(bound=bound, started=started, stopped=stopped, released=released))
    if bound is None or released <= bound:
        assert sum((right - left for _, left, right in spans), timedelta()) == timedelta()
        return
    assert spans[0][1] == bound and spans[-1][2] == released
    assert all(a[2] == b[1] for a, b in pairwise(spans))


def test_phases_of_an_allocation_still_held_are_none():
    assert list(phases(bound=at(0), started=at(1), stopped=None, released=None)) == []
