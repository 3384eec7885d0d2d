"""Usage as it is shown: parts add up to the whole, and an absent rate is a word."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from metering.selectors.use import Use, money_of
from metering.shapes import split, sums_of

CARD_HOUR = 42_000 * 3_600_000
parts = st.lists(st.integers(0, 10**15), min_size=1, max_size=5)


def number(text: str) -> Decimal:
    """What is less than a step is shown as such, and counts for nothing in the sum that is shown."""
    return Decimal(0) if text.startswith("<") else Decimal(text.replace(",", ""))


def test_a_third_three_times_is_shown_so_that_it_makes_one():
    total, shown = split([CARD_HOUR // 3] * 3, 42_000)
    assert total == "1"
    assert sorted(shown) == ["0.33", "0.33", "0.34"]


def test_a_short_use_is_not_shown_as_zero():
    assert split([42_000 * 1_000, 0, 0], 42_000) == ("0.0002", ["0.0002", "0", "0"])
    assert split([42_000 * 1_000, 1, 0], 42_000) == ("0.0002", ["0.0002", "< 0.0001", "0"])


@given(parts, st.sampled_from([42_000, 1_000, 1 << 30]))
def test_what_is_shown_adds_up(amounts, per):
    total, shown = split(amounts, per)
    assert sum(map(number, shown)) == number(total)


@given(parts)
def test_no_part_is_shown_a_whole_step_off(amounts):
    total, shown = split(amounts, 1_000)
    step = Decimal("0.1") if number(total) >= 10 else Decimal("0.01") if number(total) >= 1 else Decimal("0.0001")
    for amount, text in zip(amounts, shown, strict=True):
        assert abs(Decimal(amount) / (1_000 * 3_600_000) - number(text)) < step


def test_money_is_added_per_currency_and_what_has_no_rate_stays_visible():
    use = Use("gpu", "device")
    use.add("running", 100, cost=Decimal(5), weight=None, currency="points")
    use.add("running", 50, cost=None, weight=Decimal(2), currency="")
    use.add("startup", 7, cost=Decimal(1), weight=Decimal(1), currency="CNY")
    assert (use.allocated, use.unrated, use.unweighted) == (157, 50, 100)
    shown = sums_of(money_of([use]))
    assert (shown.cost, shown.unrated, shown.unweighted) == ([("CNY", Decimal(1)), ("points", Decimal(5))], True, True)


def test_nothing_weighted_shows_no_number_at_all():
    use = Use("gpu", "device")
    use.add("running", 100, cost=None, weight=None, currency="")
    assert sums_of(money_of([use])).weight == ""
    assert sums_of(money_of([])).weight == "0"
