"""Amounts are read strictly, exactly and fast, and written so that they read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources import quantities as q
from tests.data import hostile

READERS = {
    "quantity_cpu": q.parse_cpu,
    "quantity_memory": q.parse_memory,
    "count": lambda value: q.parse_count(value, maximum=64),
}


@pytest.mark.parametrize("kind", READERS)
def test_hostile_amounts_are_refused_within_ten_milliseconds(kind: str) -> None:
    for bad in hostile.for_type(kind):
        with hostile.told(bad, seconds=0.010):
            with pytest.raises(q.BadQuantity) as refused:
                READERS[kind](bad.value)
            assert str(refused.value).isprintable() and len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("2", 2_000),
        ("0.5", 500),
        ("500m", 500),
        ("1m", 1),
        ("0.001", 1),
        ("1024", 1_024_000),
        ("1.250", 1_250),
    ],
)
def test_cpu_becomes_milli_cpu(text: str, milli: int) -> None:
    assert q.parse_cpu(text) == milli


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1Mi", 1 << 20),
        ("1024Ki", 1 << 20),
        ("16Gi", 16 << 30),
        ("1.5Gi", 3 << 29),
        ("64Ti", 64 << 40),
        ("2G", 2_000_000_000),
        ("2000k", 2_000_000),
        ("1048576", 1 << 20),
        ("1.7Gi", 1_825_361_101),  # 1825361100.8, a part of a byte counts as one
    ],
)
def test_memory_becomes_bytes(text: str, amount: int) -> None:
    assert q.parse_memory(text) == amount


@pytest.mark.parametrize(("value", "count"), [("1", 1), ("64", 64), (8, 8)])
def test_a_count_is_read_from_text_or_a_json_integer(value: object, count: int) -> None:
    assert q.parse_count(value, maximum=64) == count


@pytest.mark.parametrize(
    ("call", "reason", "facts"),
    [
        (
            lambda: q.parse_cpu("8", maximum=4_000),
            "QuantityTooLarge",
            {"given": "8", "minimum": "0.001", "maximum": "4"},
        ),
        (
            lambda: q.parse_memory("1Gi", minimum=2 << 30),
            "QuantityTooSmall",
            {"given": "1Gi", "minimum": "2Gi", "maximum": "64Ti"},
        ),
        (
            lambda: q.parse_count("9", maximum=8),
            "QuantityTooLarge",
            {"given": "9", "minimum": "1", "maximum": "8"},
        ),
        (lambda: q.parse_cpu("1Gi"), "UnitNotAllowed", {"unit": "Gi", "units": "m"}),
        (lambda: q.parse_cpu("1.5m"), "QuantityTooFine", {"given": "1.5m"}),
        (lambda: q.parse_memory("lots"), "NotAQuantity", {"example": "16Gi"}),
    ],
)
def test_a_refusal_names_its_reason_and_the_numbers(call: object, reason: str, facts: dict[str, str]) -> None:
    with pytest.raises(q.BadQuantity) as refused:
        call()  # type: ignore[operator]
    assert (refused.value.reason, refused.value.facts) == (reason, facts)
    assert all(str(fact) in str(refused.value) for fact in facts.values() if fact not in ("0.001", "2Gi", "64Ti", "1"))


@given(st.integers(q.CPU_MIN_MILLI, q.CPU_MAX_MILLI))
def test_every_cpu_amount_reads_back_as_written(milli: int) -> None:
    assert q.parse_cpu(q.write_cpu(milli)) == milli


@given(st.integers(1, q.MEMORY_MAX_BYTES // q.MIB))
def test_every_whole_mebibyte_reads_back_as_written(mebibytes: int) -> None:
    assert q.parse_memory(q.write_memory(mebibytes * q.MIB)) == mebibytes * q.MIB


@given(st.integers(q.MEMORY_MIN_BYTES, q.MEMORY_MAX_BYTES - q.MIB))
def test_other_memory_is_written_as_the_next_mebibyte_never_less(amount: int) -> None:
    assert 0 <= q.parse_memory(q.write_memory(amount)) - amount < q.MIB


@given(st.text(max_size=20) | st.from_regex(r"[0-9.]{1,6}(m|k|Ki|Mi|Gi|Ti|e[0-9])?", fullmatch=True))
def test_any_text_is_read_into_range_or_refused(text: str) -> None:
    for parse, low, high in (
        (q.parse_cpu, q.CPU_MIN_MILLI, q.CPU_MAX_MILLI),
        (q.parse_memory, q.MEMORY_MIN_BYTES, q.MEMORY_MAX_BYTES),
    ):
        try:
            assert low <= parse(text) <= high
        except q.BadQuantity as refused:
            assert refused.reason and str(refused)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536 << 20, "1.5 GiB"),
        ((1 << 20) - 1, "1 MiB"),
        (1_825_361_101, "1.7 GiB"),
        (3 << 50, "3 PiB"),
        (5000 << 50, "5000 PiB"),
        (-(1 << 30), "-1 GiB"),
    ],
)
def test_bytes_are_shown_in_the_largest_fitting_unit(amount: int, shown: str) -> None:
    assert q.format_bytes(amount) == shown


@given(st.integers(0, 1 << 60))
def test_shown_bytes_are_within_half_a_percent_of_a_unit(amount: int) -> None:
    number, unit = q.format_bytes(amount).split(" ")
    size = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "PiB": 1 << 50}[unit]
    assert abs(float(number) * size - amount) <= 0.0051 * size
    assert float(number) < 1024 or unit == "PiB"


@pytest.mark.parametrize(("milli", "shown"), [(500, "0.5"), (16_000, "16"), (1, "0.001"), (-1500, "-1.5")])
def test_cores_are_shown_exactly(milli: int, shown: str) -> None:
    assert q.format_cpu(milli) == shown


def test_a_negative_amount_cannot_be_written_as_a_request() -> None:
    for write in (q.write_cpu, q.write_memory):
        with pytest.raises(ValueError, match="negative"):
            write(-1)
