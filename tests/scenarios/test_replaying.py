"""Given recorded jobs, when they are replayed on a fleet by rules, what happens when."""

from __future__ import annotations

from dataclasses import replace

from jobs.replay.figures import Spread, device_hours, group, grouped, lost_hours, size_of
from jobs.replay.simulation import PastJob, Run, Simulation
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import PriorityClass, Snapshot
from tests.scenarios.given import HOUR, MINUTE, NOON, Given, a_lab, alternative

RULES = Rules(forecast_steps=0, min_run_ms=0)


def past(key: str, at: int, cards: float, lasts: int, **more: object) -> PastJob:
    given = {"limit_ms": lasts, **more}
    ways = (alternative("only", 1, cards=cards, cores=1, gib=1),)
    return PastJob(key, "lab", NOON + at, lasts, ("train",), ways, **given)  # type: ignore[arg-type]


def replayed(lab: Given, *jobs: PastJob, rules: Rules = RULES, every_ms: int = 0) -> dict[str, Run]:
    return Simulation(empty(lab), rules, jobs, every_ms=every_ms).run()


def empty(lab: Given) -> Snapshot:
    return replace(lab.snapshot(), waiting=(), holdings=(), running=())


def test_jobs_start_when_there_is_room_and_end_after_their_time() -> None:
    runs = replayed(a_lab(), past("a", 0, 8, HOUR), past("b", MINUTE, 8, HOUR))
    assert [(r.waited_ms, r.ended_ms) for r in runs.values()] == [(0, NOON + HOUR), (59 * MINUTE, NOON + 2 * HOUR)]


def test_a_job_ends_at_its_limit() -> None:
    runs = replayed(a_lab(), past("a", 0, 8, HOUR, limit_ms=MINUTE))
    assert (runs["a"].ended_ms, runs["a"].done_ms) == (NOON + MINUTE, MINUTE)


def test_a_short_job_passes_the_one_that_room_is_kept_for_and_a_long_one_does_not() -> None:
    jobs = (
        past("first", 0, 4, HOUR),
        past("large", 1, 8, HOUR),
        past("short", 2, 4, HOUR // 2),
        past("long", 3, 4, HOUR),
    )
    runs = replayed(a_lab(), *jobs)
    assert (runs["short"].waited_ms, runs["large"].waited_ms) == (0, HOUR - 1)
    assert runs["long"].waited_ms == 2 * HOUR - 3


def test_who_is_stopped_goes_on_from_what_it_had_saved() -> None:
    low = past("low", 0, 8, 4 * HOUR, limit_ms=None, preemptible=True, checkpoint_ms=20 * MINUTE)
    high = past("high", HOUR + 5 * MINUTE, 8, HOUR, priority_class=PriorityClass.PRODUCTION)
    runs = replayed(a_lab(), low, high)
    assert (runs["high"].waited_ms, runs["low"].stops, runs["low"].lost_ms) == (0, 1, 5 * MINUTE)
    assert runs["low"].ended_ms == NOON + 5 * HOUR + 5 * MINUTE
    assert runs["low"].held_ms == 4 * HOUR + 5 * MINUTE
    assert lost_hours(runs.values()) == 8 * 5 / 60


def test_a_slower_class_takes_longer() -> None:
    lab = a_lab().device_class("old").host("o1", 8, of="old").running("x", "n1", 8)
    ways = alternative("a100", 1, cards=8), alternative("old", 1, cards=8, of="old")
    job = PastJob("a", "lab", NOON, HOUR, ("train",), ways, speeds=(("old", 500),))
    other = past("b", 0, 8, HOUR)
    runs = replayed(lab, replace(other, key="0", submit_ms=NOON - 1), job)
    assert (runs["a"].waited_ms, runs["a"].ended_ms) == (0, NOON + 2 * HOUR)


def test_what_can_never_start_or_would_not_wait_is_refused() -> None:
    runs = replayed(a_lab(), past("big", 0, 9, HOUR), past("a", 1, 8, HOUR), past("now", 2, 8, HOUR, max_wait_ms=0))
    assert (runs["big"].refused, runs["now"].refused) == ("AboveLargestNode", "MaxWaitExceeded")
    assert runs["a"].ended_ms is not None


def test_passes_may_be_some_time_apart_and_nothing_is_forgotten() -> None:
    jobs = [past(f"j{number}", number * 7_000, 3, 10 * MINUTE) for number in range(40)]
    runs = replayed(a_lab(), *jobs, every_ms=MINUTE)
    assert all(run.ended_ms is not None for run in runs.values())
    assert all((run.job.submit_ms + (run.waited_ms or 0)) % MINUTE == 0 for run in runs.values())


def test_the_same_again_gives_the_same() -> None:
    jobs = [past(f"j{n}", n * 11_000, 1 + n % 5, (1 + n % 7) * MINUTE, preemptible=True) for n in range(60)]
    first, second = (Simulation(empty(a_lab("n1", "n2")), RULES, jobs) for _ in range(2))
    assert first.run() == second.run()
    assert first.passes == second.passes


def test_figures_of_a_replay() -> None:
    runs = replayed(a_lab("n1", "n2"), past("a", 0, 8, HOUR), past("b", 0, 8, HOUR), past("c", 0, 1, HOUR))
    assert device_hours(runs.values()) == 17
    assert {size: found.wait.count for size, found in grouped(runs.values(), size_of).items()} == {"1": 1, "5-8": 2}
    found = group(runs.values())
    assert (found.wait.median, found.wait.p99, found.completion.mean) == (0, HOUR, 4 * HOUR / 3)
    assert Spread.of([]) == Spread(0, None, None, None, None)
    assert Spread.of(range(1, 101)) == Spread(100, 50.5, 50, 95, 99)
