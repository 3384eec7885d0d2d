"""A cluster's clock against the portal's: told from the seconds that its answers carry."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import formatdate

import pytest

from resources.drivers.kubernetes.clock import KEPT, SLOW_S, ClusterClock, agreed, in_our_time
from resources.drivers.kubernetes.seen import workloads_of
from tests.unit.drivers.kubernetes_things import NOW, at, ended, job, pod

BEGAN = 1_800_000_000.0


def asked(clock: ClusterClock, ahead_s: float, count: int, *, begin: float = BEGAN, took_s: float = 0.05) -> float:
    """So many answers of a server whose clock is so far ahead; the time after them."""
    chance, now = random.Random(7), begin
    for _ in range(count):
        now += chance.uniform(0.05, 1.0)
        written = now + chance.uniform(0, took_s)
        clock.heard(formatdate(int(written + ahead_s), usegmt=True), now, now + took_s)
        now += took_s
    return now


@pytest.mark.parametrize("ahead_s", [612.3, -599.6, 5.5, -1.4])
def test_the_gap_is_known_more_finely_than_the_seconds_it_is_told_in(ahead_s: float) -> None:
    clock = ClusterClock()
    asked(clock, ahead_s, KEPT)
    reading = clock.reading()
    assert reading is not None
    assert abs(reading.ahead_ms - ahead_s * 1_000) <= reading.within_ms + 50 <= 350
    assert clock.ahead == timedelta(milliseconds=reading.ahead_ms)


@pytest.mark.parametrize("ahead_s", [0.0, 0.4, -0.8])
def test_a_gap_below_the_resolution_of_the_api_is_none(ahead_s: float) -> None:
    clock = ClusterClock()
    asked(clock, ahead_s, 3 * KEPT)
    assert clock.ahead == timedelta()


def test_what_is_known_does_not_wander_from_answer_to_answer() -> None:
    clock = ClusterClock()
    now = asked(clock, 612.3, 3 * KEPT)
    before = clock.ahead
    for _ in range(20):
        now = asked(clock, 612.3, 1, begin=now)
        assert clock.ahead == before


def test_a_stale_answer_moves_nothing_and_a_clock_that_was_set_is_followed() -> None:
    clock = ClusterClock()
    now = asked(clock, 0.0, KEPT)
    for _ in range(KEPT // 2 - 1):
        now = asked(clock, -86_400.0, 1, begin=now)
    assert clock.ahead == timedelta()
    now = asked(clock, 0.0, KEPT, begin=now)
    asked(clock, 600.0, KEPT // 2 + 2, begin=now)
    assert abs(clock.ahead - timedelta(seconds=600)) < timedelta(seconds=1)


@pytest.mark.parametrize("date", ["", "yesterday", "Tue, 99 Dec 2026 99:99:99 GMT", "1", "\x00"])
def test_what_is_no_date_and_what_took_long_says_nothing(date: str) -> None:
    clock = ClusterClock()
    clock.heard(date, BEGAN, BEGAN + 0.1)
    clock.heard(formatdate(BEGAN + 600, usegmt=True), BEGAN, BEGAN + SLOW_S + 0.1)
    assert clock.reading() is None


def test_the_span_that_most_agree_on() -> None:
    assert agreed([]) == (0.0, 0.0, 0)
    assert agreed([(8.0, 12.0), (11.0, 13.0), (14.0, 15.0)]) == (11.0, 12.0, 2)


@pytest.mark.parametrize("minutes", [10, -10])
def test_a_run_is_told_in_the_portals_time_whatever_the_clusters_clock(minutes: int) -> None:
    true = workloads_of([job()], [pod(phase="Succeeded", state=ended(0))], NOW)
    ahead = timedelta(minutes=minutes)
    theirs = [in_our_time(one, -ahead) for one in (job(), pod(phase="Succeeded", state=ended(0)))]
    assert theirs[1]["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"] != at(9)
    told = workloads_of([in_our_time(theirs[0], ahead)], [in_our_time(theirs[1], ahead)], NOW)
    assert told == true and told[0].members[0].finished_at == datetime(2026, 5, 4, 12, 0, 9, tzinfo=UTC)


def test_our_own_annotations_are_in_our_time_already() -> None:
    found = in_our_time(pod(), timedelta(hours=1))
    assert found["metadata"]["annotations"] == pod()["metadata"]["annotations"]
    assert in_our_time({"creationTimestamp": None, "items": ["x", 5]}, timedelta(hours=1)) == {
        "creationTimestamp": None, "items": ["x", 5]
    }  # fmt: skip


def test_an_end_long_before_its_start_is_not_passed_over() -> None:
    """The portal judges it; the driver tells what it was told."""
    (told,) = workloads_of([job()], [pod(phase="Failed", state=ended(1, began=30, ended_at=9))], NOW)
    member = told.members[0]
    assert member.finished_at is not None and member.started_at is not None and member.finished_at < member.started_at
