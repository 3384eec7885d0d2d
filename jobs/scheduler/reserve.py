"""Room kept for the first job of a pool that cannot start, so that nobody behind it passes for ever.

The reservation is hosts and an instant: the first at which the limits of what runs free all that the job needs, its
quota included. It is found anew in every pass. That is not later than in the pass before unless a host was lost, a
limit was broken or somebody went ahead, because what was let pass since leaves both hosts and quota as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from jobs.scheduler.decision import Placement
from jobs.scheduler.forecast import end_of
from jobs.scheduler.ledger import Ledger, holdings_of
from jobs.scheduler.shape import Shape, Way
from jobs.scheduler.snapshot import Holding, WaitingJob
from jobs.states import AllocationState

Step = tuple[int | None, list[Holding]]  # what ends at an instant; None: nothing says when


@dataclass(frozen=True, slots=True)
class Reservation:
    """Hosts kept for `job` from `at_ms` on (None: nobody knows when).

    `then`: all books at that instant, the job included. `freed`: what others give back for it.
    """

    job: str
    way: Way
    cluster: str
    placements: tuple[Placement, ...]
    at_ms: int | None
    then: Ledger
    freed: tuple[Holding, ...] = ()

    def is_over_before(self, limit_ms: int | None, now_ms: int) -> bool:
        """Whether a job that starts now is surely gone by then."""
        return limit_ms is not None and self.at_ms is not None and now_ms + limit_ms <= self.at_ms


class Reserving:
    """Makes the reservations of one pass."""

    def __init__(self, at_ms: int) -> None:
        self._at = at_ms
        self._hopeless: set[tuple[Shape, str]] = set()

    def for_job(
        self, now: Ledger, holdings: Sequence[Holding], job: WaitingJob, shape: Shape, taken: Iterable[str]
    ) -> Reservation | None:
        """Where and when the job can start first; None where no end of anything that runs would do.

        `taken`: pools that keep room for another job.
        """
        found = [
            reservation
            for way in shape.open_ways
            if way.pool.key not in taken and (shape, way.pool.key) not in self._hopeless
            for reservation in self._in_pool(now, holdings, job, shape, way)
        ]
        return min(found, key=lambda r: (r.at_ms is None, r.at_ms or 0), default=None)

    def claim(self, now: Ledger, stopping: list[Holding], job: WaitingJob, shape: Shape) -> Reservation | None:
        """Room for a job for which others were stopped, as soon as what they still hold is given back."""
        then = now.fork()
        then.release(stopping)
        pools: set[str | None] = {holding.pool for holding in stopping} or {job.claims}
        for way in shape.open_ways:
            if way.pool.key in pools:
                placed = then.place(shape.tenant, way.pool.key, shape.scope, way.demand)
                if placed is not None:
                    cluster, placements = placed
                    then.count(holdings_of(job, way.pool.key, placements, None))
                    return Reservation(job.key, way, cluster, placements, None, then, tuple(stopping))
        return None

    def _in_pool(
        self, now: Ledger, holdings: Sequence[Holding], job: WaitingJob, shape: Shape, way: Way
    ) -> Iterable[Reservation]:
        steps = _steps((h for h in holdings if h.pool == way.pool.key), self._at)
        then = now.fork()
        at = _Search(then, steps, shape, way).run()
        if at is None:
            self._hopeless.add((shape, way.pool.key))
            return
        placed = then.place(shape.tenant, way.pool.key, shape.scope, way.demand)
        if placed is not None:
            cluster, placements = placed
            then.count(holdings_of(job, way.pool.key, placements, None))
            yield Reservation(job.key, way, cluster, placements, steps[at][0], then)


class _Search:
    """Looks for the first step after which a way could start, and leaves the ledger there."""

    def __init__(self, then: Ledger, steps: Sequence[Step], shape: Shape, way: Way) -> None:
        self._then, self._steps, self._shape, self._way = then, steps, shape, way
        self._done = 0

    def run(self) -> int | None:
        """The number of the step; None when not even all of them suffice."""
        failing, fitting, stride = 0, len(self._steps), 1
        while failing < len(self._steps):
            fitting = min(len(self._steps), failing + stride)
            if self._fits_after(fitting):
                break
            failing, stride = fitting, 2 * stride
        else:
            return None
        while fitting - failing > 1:
            middle = (failing + fitting) // 2
            if self._fits_after(middle):
                fitting = middle
            else:
                failing = middle
        self._go(fitting)
        return fitting - 1

    def _fits_after(self, steps: int) -> bool:
        self._go(steps)
        return self._then.could_start(self._shape.tenant, self._way.pool.key, self._shape.scope, self._way.demand)

    def _go(self, steps: int) -> None:
        forward, back = self._steps[self._done : steps], self._steps[steps : self._done]
        if forward:
            self._then.release([holding for _, ending in forward for holding in ending])
        if back:
            self._then.hold([holding for _, ending in back for holding in ending])
        self._done = steps


def _steps(holdings: Iterable[Holding], at_ms: int) -> list[Step]:
    """What ends, by instant; then, one allocation after another, what nobody knows the end of. Leaks never end."""
    ends = [(end_of(holding, at_ms), holding) for holding in holdings if holding.state is not AllocationState.LEAKED]
    known = sorted(((end, h) for end, h in ends if end is not None), key=lambda p: (p[0], p[1].allocation, p[1].host))
    open_ended = sorted((h for end, h in ends if end is None), key=lambda h: (h.allocation, h.host))
    steps: list[Step] = [(end, [h for _, h in group]) for end, group in groupby(known, key=lambda pair: pair[0])]
    steps += [(None, list(group)) for _, group in groupby(open_ended, key=lambda h: h.allocation)]
    return steps
