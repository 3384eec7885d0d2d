"""Whose turn it is in a pass that runs out of time."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from jobs.turns import Turns, place

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass
class One:
    pk: str
    admitted_at: datetime


def rows(count: int) -> list[One]:
    return [One(f"{n:03}", START + timedelta(milliseconds=n // 3)) for n in range(count)]


class Passes:
    """Passes in which each visit takes a second, over a clock of their own."""

    def __init__(self, seconds: float) -> None:
        self.marks: dict[str, list[object]] = {}
        self.seconds, self.now = seconds, 0.0

    def run(self, waiting: list[One], kind: str = "keep") -> list[str]:
        turns, visited = Turns(dict(self.marks), lambda: self.now, self.now), []
        for row in turns.of(kind, waiting, self.seconds):
            visited.append(row.pk)
            self.now += 1
        self.marks = turns.marks
        return visited


def test_a_pass_that_has_the_time_visits_everybody_and_remembers_nothing():
    passes = Passes(100)
    assert passes.run(rows(5)) == ["000", "001", "002", "003", "004"]
    assert passes.marks == {} and passes.run([]) == []


def test_one_that_has_not_goes_on_where_it_was_and_everybody_comes_once_a_round():
    passes, waiting = Passes(4), rows(10)
    visited = [key for _ in range(5) for key in passes.run(waiting)]
    assert visited == [row.pk for row in waiting] * 2


def test_nobody_is_passed_over_when_others_come_and_go():
    passes, waiting, last = Passes(3), rows(9), {}
    newcomers = iter(One(f"n{n}", START + timedelta(seconds=n)) for n in range(200))
    for number in range(60):
        visited = passes.run(waiting)
        last |= dict.fromkeys(visited, number)
        waiting = [row for row in waiting if row.pk not in visited[:1]] + [next(newcomers)]
        assert all(number - last.get(row.pk, number) <= 4 for row in waiting)


def test_at_least_one_gets_a_turn_however_late_it_is():
    passes, waiting = Passes(0), rows(3)
    assert [passes.run(waiting) for _ in range(4)] == [["000"], ["001"], ["002"], ["000"]]


def test_kinds_of_steps_have_turns_of_their_own():
    passes, waiting = Passes(2), rows(4)
    assert passes.run(waiting, "keep") == ["000", "001"]
    assert passes.run(waiting, "release") == ["000", "001"]
    assert passes.marks == {"keep": place(waiting[1]), "release": place(waiting[1])}
