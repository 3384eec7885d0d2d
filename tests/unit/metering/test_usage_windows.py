"""Periods of the usage pages: half-open, in local days, also where clocks change."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from metering.selectors.windows import KEYS, window_of
from portal.lib.errors import Invalid

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def test_this_month_and_the_last_one_meet_without_gap_or_overlap():
    this, last = window_of("month", NOON, UTC), window_of("last-month", NOON, UTC)
    assert (this.first, this.last) == (date(2026, 11, 1), date(2026, 11, 30))
    assert (last.first, last.last) == (date(2026, 10, 1), date(2026, 10, 31))
    assert last.end == this.start == datetime(2026, 11, 1, tzinfo=UTC)


def test_the_zone_decides_which_month_it_is():
    shanghai = ZoneInfo("Asia/Shanghai")
    late = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)  # midnight there
    assert window_of("month", late, shanghai).first == date(2026, 12, 1)
    assert window_of("month", late - timedelta(milliseconds=1), shanghai).first == date(2026, 11, 1)


@pytest.mark.parametrize(("key", "days"), [("7d", 7), ("30d", 30)])
def test_a_number_of_days_includes_today(key, days):
    window = window_of(key, NOON, UTC)
    assert len(window.days(NOON, UTC)) == days
    assert window.last == date(2026, 11, 30)


def test_days_of_a_running_month_end_with_today():
    early = datetime(2026, 11, 3, 1, 0, tzinfo=UTC)
    window = window_of("month", early, UTC)
    assert [day.day for day, _, _ in window.days(early, UTC)] == [1, 2, 3]
    assert window.last == date(2026, 11, 30)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", ["UTC", "Asia/Shanghai", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"])
def test_days_tile_their_window(key, name):
    zone = ZoneInfo(name)
    after = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)  # the clocks changed in the last week
    window = window_of(key, after, zone)
    days = window.days(window.end, zone)
    assert days[0][1] == window.start
    assert all(left[2] == right[1] for left, right in pairwise(days))


def test_the_day_on_which_clocks_go_back_has_25_hours():
    berlin = ZoneInfo("Europe/Berlin")
    days = window_of("last-month", NOON, berlin).days(NOON, berlin)
    longest = max(days, key=lambda item: item[2] - item[1])
    assert (longest[0], longest[2] - longest[1]) == (date(2026, 10, 25), timedelta(hours=25))


@pytest.mark.parametrize("key", ["", "MONTH", "31d", "-1d", "month "])
def test_other_periods_are_refused(key):
    with pytest.raises(Invalid) as refused:
        window_of(key, NOON, UTC)
    assert refused.value.reason == "PeriodUnknown"
