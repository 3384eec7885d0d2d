"""The exit code and the order of figures, on which every bench and gate relies."""

import pytest

from tests.bench.__main__ import main
from tests.bench.report import at_least, at_most, report


def test_short_figures_come_last_and_fail(capsys: pytest.CaptureFixture[str]) -> None:
    figures = [
        at_most("slow", 3.0, "s", 2.0),
        at_least("many", 5, "jobs", 5),
        at_most("quick", 2.0, "s", 2.0),
    ]
    assert report(figures) == 1
    assert capsys.readouterr().out.splitlines() == [
        "many: 5 jobs (>= 5 jobs) ok",
        "quick: 2 s (<= 2 s) ok",
        "slow: 3 s (<= 2 s) short",
    ]


def test_an_unmeasured_figure_is_never_good(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([at_most("quick", 1.0, "s", 2.0)], ["no wheels"]) == 2
    assert "not run: no wheels" in capsys.readouterr().out
    assert report([], ["no wheels"]) == 2
    assert report([]) == 2
    assert report([at_most("slow", 3.0, "s", 2.0)], ["no wheels"]) == 1


def test_all_good_is_zero() -> None:
    assert report([at_most("quick", 1.0, "s", 2.0)]) == 0


def test_an_unknown_name_lists_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("bench", "no-such") == 2
    assert "cold-start" in capsys.readouterr().out.splitlines()
