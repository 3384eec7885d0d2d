"""Quantities, durations, times and money read as the glossary says, in both languages."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation

from portal.lib import units

NOW = datetime(2026, 11, 30, 8, 22, 4, tzinfo=UTC)
SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(
    ("ms", "english", "chinese"),
    [
        (0, "0 ms", "0 毫秒"),
        (999, "999 ms", "999 毫秒"),
        (1_000, "1 s", "1 秒"),
        (1_450, "1.4 s", "1.4 秒"),
        (45_999, "45.9 s", "45.9 秒"),
        (60_000, "1 min 00 s", "1 分 00 秒"),
        (95_000, "1 min 35 s", "1 分 35 秒"),
        (41 * 60_000 + 59_000, "41 min", "41 分"),
        (2 * 3_600_000 + 15 * 60_000, "2 h 15 min", "2 小时 15 分"),
        (69 * 3_600_000, "2 d 21 h", "2 天 21 小时"),
        (-45_000, "−45 s", "−45 秒"),
    ],
)
def test_a_duration_shows_its_two_largest_units_and_never_rounds_up(ms: int, english: str, chinese: str) -> None:
    with translation.override("en"):
        assert units.duration_text(ms) == english
    with translation.override("zh-hans"):
        assert units.duration_text(ms) == chinese


@pytest.mark.parametrize(
    ("parts", "english", "chinese"),
    [
        (0, "0 cards", "0 卡"),
        (42_000, "1 card", "1 卡"),
        (8 * 42_000, "8 cards", "8 卡"),
        (21_000, "0.5 cards", "0.5 卡"),
        (18_000, "3/7 cards", "3/7 卡"),
        (42_000 + 6_000, "1 1/7 cards", "1 1/7 卡"),
        (-6_000, "−1/7 cards", "−1/7 卡"),
    ],
)
def test_devices_are_exact_and_take_the_word_of_the_language(parts: int, english: str, chinese: str) -> None:
    with translation.override("en"):
        assert units.devices_text(parts) == english
    with translation.override("zh-hans"):
        assert units.devices_text(parts) == chinese


def test_devices_shared_by_another_denominator_carry_their_own_whole() -> None:
    assert units.devices(11, whole=11) == "1"
    assert units.devices(3, whole=11) == "3/11"


@pytest.mark.parametrize(
    ("milli", "text"),
    [(500, "0.5 cores"), (1_000, "1 core"), (192_000, "192 cores"), (1, "0.001 cores"), (1_500_000, "1,500 cores")],
)
def test_cores_show_milli_cpu_as_decimals(milli: int, text: str) -> None:
    with translation.override("en"):
        assert units.cpu_text(milli) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024, "1 KiB"),
        (512 * 1024**2, "512 MiB"),
        (1024**3 - 1, "1,023.9 MiB"),
        (1536 * 1024**3, "1,536 GiB"),
        (11 * 1024**3 + 200 * 1024**2, "11.1 GiB"),
        (12 * 1024**4, "12 TiB"),
    ],
)
def test_bytes_stay_in_gib_where_memory_sizes_are_compared(size: int, text: str) -> None:
    assert units.bytes_text(size) == text


@pytest.mark.parametrize(
    ("product", "unit", "text"),
    [
        (16 * 42_000 * 3_600_000, "devices", "16"),
        (1_000 * 30_000, "cpu", "0.0083"),
        (2_500 * 3_600_000, "cpu", "2.5"),
        (1024**3 * 3_600_000 * 240, "bytes", "240"),
    ],
)
def test_resource_hours_of_a_short_job_are_not_shown_as_zero(product: int, unit: units.Unit, text: str) -> None:
    assert units.hours(product, unit) == text


@pytest.mark.parametrize(
    ("micro", "currency", "english", "chinese"),
    [
        (1_200_000_000, "CNY", "CNY 1,200.00", "1,200.00 元"),
        (350, "CNY", "CNY 0.000350", "0.000350 元"),
        (0, "CNY", "CNY 0.00", "0.00 元"),
        (-5_000_000, "USD", "USD −5.00", "USD −5.00"),
    ],
)
def test_money_names_its_currency_and_a_small_price_is_not_zero(
    micro: int, currency: str, english: str, chinese: str
) -> None:
    with translation.override("en"):
        assert units.money_text(micro, currency) == english
    with translation.override("zh-hans"):
        assert units.money_text(micro, currency) == chinese


@pytest.mark.parametrize(
    ("seconds", "english", "chinese"),
    [
        (0, "0 seconds ago", "0 秒前"),
        (1, "1 second ago", "1 秒前"),
        (185, "3 minutes ago", "3 分钟前"),
        (7_300, "2 hours ago", "2 小时前"),
        (200_000, "2 days ago", "2 天前"),
        (-2_500, "in 41 minutes", "41 分钟后"),
    ],
)
def test_relative_time_uses_one_unit(seconds: int, english: str, chinese: str) -> None:
    moment = NOW - timedelta(seconds=seconds)
    with translation.override("en"):
        assert units.ago_text(moment, NOW) == english
    with translation.override("zh-hans"):
        assert units.ago_text(moment, NOW) == chinese


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(4, "4 s old"), (4.7, "4 s old"), (660, "11 min old"), (8_100, "2 h 15 min old"), (-3, "just now")],
)
def test_an_age_is_never_negative(seconds: float, text: str) -> None:
    with translation.override("en"):
        assert units.age_text(NOW - timedelta(seconds=seconds), NOW) == text


@pytest.mark.parametrize(
    ("micros", "places"),
    [([], 2), ([None, 0], 2), ([10_000, 5_000_000], 2), ([9_999, 5_000_000], 6), ([Decimal("-0.5"), None], 6)],
)
def test_one_small_amount_gives_its_whole_column_more_decimals(micros: list[Any], places: int) -> None:
    assert units.money_places(micros) == places


def test_money_of_a_column_has_its_decimals_and_the_exact_amount_every_digit() -> None:
    with translation.override("en"):
        assert units.money_text(5_000_000, "points", 6) == "5.000000 points"
        assert units.exact_money(Decimal("1234567.25"), "points") == "1.23456725 points"
        assert units.exact_money(5_000_000, "EUR") == "EUR 5.00"
        assert units.exact_money(-10_000_000_000, "CNY") == "CNY −10,000.00"


def test_times_are_local_and_say_utc_on_hover() -> None:
    assert units.time_text(NOW, SHANGHAI) == "2026-11-30 16:22"
    assert units.time_text(NOW, SHANGHAI, "second") == "2026-11-30 16:22:04"
    assert units.utc_title(NOW) == "UTC 2026-11-30 08:22:04"


def test_a_near_time_shows_the_day_only_when_it_is_another_local_day() -> None:
    assert units.near_time_text(NOW, SHANGHAI, NOW) == "16:22:04"
    # 17:00 UTC is already the next day in Shanghai
    assert units.near_time_text(NOW, SHANGHAI, NOW.replace(hour=17)) == "11-30 16:22"


@pytest.mark.parametrize(
    ("zone", "english", "chinese"),
    [
        ("Asia/Shanghai", "UTC+8", "北京时间"),
        ("UTC", "UTC", "UTC"),
        ("Asia/Kolkata", "UTC+5:30", "UTC+5:30"),
        ("America/New_York", "UTC−5", "UTC−5"),
    ],
)
def test_the_zone_is_named(zone: str, english: str, chinese: str) -> None:
    with translation.override("en"):
        assert units.zone_text(ZoneInfo(zone), NOW) == english
    with translation.override("zh-hans"):
        assert units.zone_text(ZoneInfo(zone), NOW) == chinese


def test_a_share_of_nothing_is_a_dash() -> None:
    assert units.percent(935, 1000) == "93.5%"
    assert units.percent(0, 0) == "–"
