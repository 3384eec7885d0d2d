"""The geometry of quota bars and small charts."""

import pytest

from portal.lib.display import BarRow
from portal.web import bars
from portal.web.bars import Quota

CARD = 42_000


def cards(**counts: int | None) -> Quota:
    return Quota(**{name: None if n is None else n * CARD for name, n in counts.items()})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "scale", "text"), [(1, 3, "33.33%"), (5, 4, "100%"), (-1, 4, "0%"), (1, 0, "0%"), (1, 8, "12.5%")]
)
def test_a_share_stays_within_the_bar(value: int, scale: int, text: str) -> None:
    assert bars.share(value, scale) == text


def test_what_lies_beyond_nominal_is_hatched() -> None:
    found = bars.pieces(cards(used=20, nominal=16, ceiling=24))
    assert [(p.css, p.x, p.width, p.pattern) for p in found] == [
        ("f-k", "0%", "66.67%", ""),
        ("f-k", "66.67%", "16.67%", "p-hatch"),
    ]


def test_this_job_is_lighter_and_its_borrowed_part_hatched() -> None:
    quota = cards(used=6, job=16, nominal=16, ceiling=24)
    assert [(p.css, p.pattern) for p in bars.pieces(quota)] == [("f-k", ""), ("f-k2", ""), ("f-k2", "p-hatch")]
    assert quota.to_borrow == 6 * CARD


def test_lent_quota_is_dotted_below_nominal() -> None:
    lent = bars.pieces(cards(used=8, lent=4, nominal=16, ceiling=32))[-1]
    assert (lent.css, lent.x, lent.width, lent.pattern) == ("f-lent", "37.5%", "12.5%", "p-dots")


def test_without_a_nominal_nothing_counts_as_borrowed() -> None:
    quota = cards(used=20, job=4)
    assert all(not piece.pattern for piece in bars.pieces(quota))
    assert quota.to_borrow == 0


def test_not_measured_draws_nothing_and_says_so() -> None:
    quota = Quota(used=None, nominal=4 * CARD)
    use, _rules = bars.keys(quota, "devices")
    assert bars.pieces(quota) == []
    assert [key.value for key in use] == ["not measured"]


def test_a_limit_without_a_rule_is_not_zero() -> None:
    _use, rules = bars.keys(cards(used=1, nominal=0), "devices")
    assert [(key.mark, key.value) for key in rules] == [
        ("guarantee", "none"),
        ("nominal", "0"),
        ("ceiling", "none"),
    ]


@pytest.mark.parametrize("ceiling", [1, 7, 24, 25, 40, 512, 10_000])
def test_there_are_never_more_than_25_graduations(ceiling: int) -> None:
    ticks = bars.ticks(cards(used=0, ceiling=ceiling), "devices")
    assert 2 <= len(ticks) <= 25
    assert ticks[0].long and ticks[0].x == "0%"


def test_the_longest_row_is_full_and_an_unmeasured_one_empty() -> None:
    rows = [BarRow("a", 50, "50"), BarRow("b", 100, "100"), BarRow("c", None, "not measured")]
    assert [width for _row, width in bars.rows(rows)] == ["50%", "100%", "0%"]


def test_a_small_positive_column_is_seen() -> None:
    columns = bars.columns([BarRow("a", 1, "1"), BarRow("b", 10_000, "10,000"), BarRow("c", 0, "0")])
    assert [column.height for column in columns] == [1, bars.COLUMN_HEIGHT, 0]
