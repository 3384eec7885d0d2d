"""How often a cluster may be asked, on a clock that the test turns."""

import pytest

from resources.drivers.kubernetes.pace import FAILURES, LONGEST_S, SHORTEST_S, Breaker, RateLimit


class Clock:
    """Seconds, turned by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_burst_passes_and_the_rest_waits_its_turn(clock: Clock) -> None:
    limit = RateLimit(clock, per_second=10.0, burst=5.0)
    assert [limit.wait_s() for _ in range(5)] == [0.0] * 5
    assert [round(limit.wait_s(), 3) for _ in range(3)] == [0.1, 0.2, 0.3]
    clock.now += 0.3
    assert round(limit.wait_s(), 3) == 0.1
    clock.now += 3_600
    assert [limit.wait_s() for _ in range(6)][:5] == [0.0] * 5


def test_calls_that_are_refused_wear_nothing_out(clock: Clock) -> None:
    limit = RateLimit(clock, per_second=10.0, burst=5.0)
    for _ in range(1_000):
        assert limit.wait_s(0.5) <= 0.6
    clock.now += 0.2
    assert limit.wait_s(0.5) <= 0.5, "one of those that asked may call again"


def test_failures_in_a_row_open_it_for_longer_each_time(clock: Clock) -> None:
    breaker = Breaker(clock)
    for _ in range(FAILURES - 1):
        breaker.failed()
    assert breaker.open_for_s() == 0
    breaker.failed()
    assert breaker.open_for_s() == SHORTEST_S
    clock.now += SHORTEST_S
    assert breaker.open_for_s() == 0, "one may try"
    assert breaker.open_for_s() == SHORTEST_S, "and only one"
    breaker.failed()
    assert breaker.open_for_s() == 2 * SHORTEST_S
    for _ in range(20):
        breaker.failed()
    assert breaker.open_for_s() == LONGEST_S


def test_an_answer_closes_it(clock: Clock) -> None:
    breaker = Breaker(clock)
    for _ in range(FAILURES):
        breaker.failed()
    clock.now += SHORTEST_S
    breaker.succeeded()
    assert breaker.open_for_s() == 0
    breaker.failed()
    assert breaker.open_for_s() == 0, "failures count anew"


def test_a_server_that_asks_for_time_gets_it_but_not_for_ever(clock: Clock) -> None:
    breaker = Breaker(clock)
    breaker.failed(not_before_s=30.0)
    assert breaker.open_for_s() == 30.0
    breaker.failed(not_before_s=1e9)
    assert breaker.open_for_s() == LONGEST_S
