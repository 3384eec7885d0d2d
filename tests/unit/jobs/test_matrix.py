"""What a cell of the validation matrix may claim."""

import uuid
from datetime import UTC, datetime, timedelta

from jobs.matrix import Cell, Place, Run, cell_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)
HERE, ELSEWHERE = Place("550", "containerd://2"), Place("535", "containerd://2")


def run(passed: bool = True, *, place: Place = HERE, days: int = 1, simulated: bool = False, runtime_as="torch 2"):
    reason = "Succeeded" if passed else "DeviceFault"
    at = NOW - timedelta(days=days)
    return Run("batch", "card", "torch", simulated, passed, place, runtime_as, at, uuid.uuid4(), reason)


def cell(*runs: Run, places=(HERE,), runtime_as="torch 2") -> Cell:
    return cell_of(runs, set(places), runtime_as)


def test_nothing_is_claimed_that_no_run_has_shown():
    assert cell() == Cell("not_verified")


def test_the_newest_run_that_passed_is_the_evidence():
    old, new = run(days=3), run(days=1)
    assert cell(old, new) == Cell("verified", new)


def test_a_run_that_failed_later_takes_nothing_from_one_that_passed():
    proof = run(days=3)
    assert cell(proof, run(passed=False)).state == "verified"


def test_only_failures_are_a_failure():
    failed = run(passed=False)
    assert cell(failed) == Cell("failed", failed)


def test_a_simulated_run_proves_nothing_about_hardware():
    rehearsal = run(simulated=True)
    assert cell(rehearsal) == Cell("simulated", rehearsal)
    assert cell(rehearsal, run(passed=False)).state == "failed"
    assert cell(run(passed=False, simulated=True)) == Cell("not_verified")


def test_another_driver_turns_it_back_and_says_what_changed():
    proof = run(place=ELSEWHERE)
    turned = cell(proof)
    assert (turned.state, turned.run) == ("not_verified", proof)
    assert [tuple(change) for change in turned.changed] == [("driver", "535", ("550",))]


def test_another_image_turns_it_back():
    assert [c.fact for c in cell(run(), runtime_as="torch 3").changed] == ["runtime"]


def test_what_was_not_written_down_proves_nothing():
    turned = cell(run(place=Place(None, None), runtime_as=None))
    assert turned.state == "not_verified"
    assert [(c.fact, c.was) for c in turned.changed] == [("driver", None), ("container", None), ("runtime", None)]


def test_a_run_on_one_driver_leaves_the_other_open():
    shown = cell(run(), places=(HERE, ELSEWHERE))
    assert (shown.state, shown.unproved) == ("verified", (ELSEWHERE,))


def test_a_class_without_a_node_left_is_not_verified():
    assert cell(run(), places=()).state == "not_verified"
