"""What faults do to calls: unreachable clusters, lost answers, lists with too much or too little in them. Pure."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from resources.drivers.base import DriverUnavailable, SeenWorkload

from .chance import roll
from .faults import Fault, FaultKind, Faults

About = tuple[str, str, list[str]]
"""Name, job id and nodes of the workload a call is about."""


class Named(Protocol):
    """Something in a list."""

    @property
    def name(self) -> str:
        """What it is known by."""


N = TypeVar("N", bound=Named)


class Calls:
    """The faults of calls to one cluster."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def answer(self, faults: Faults, verb: str, now: int) -> None:
        """Raises DriverUnavailable while the cluster cannot be reached."""
        if any(self._of_cluster(faults, FaultKind.UNREACHABLE, now, verb)):
            raise DriverUnavailable("simulated: the cluster does not answer", reason="Unreachable")

    def send(self, faults: Faults, verb: str, about: About, now: int) -> None:
        """Raises DriverUnavailable when the call is lost on its way: nothing has happened."""
        self._lose(faults, verb, about, now, before=True)

    def come_back(self, faults: Faults, verb: str, about: About, now: int) -> None:
        """Raises DriverUnavailable when the answer is lost on its way: it has happened all the same."""
        self._lose(faults, verb, about, now, before=False)

    def is_partial(self, faults: Faults, now: int) -> bool:
        """Whether lists leave something out."""
        return any(self._of_cluster(faults, FaultKind.PARTIAL, now, "list"))

    def part_of(self, faults: Faults, named: Iterable[N], now: int) -> Iterable[N]:
        """Those that are in the list; another half of them at every moment when it is partial."""
        if not self.is_partial(faults, now):
            return named
        return [one for one in named if roll(self._seed, now, one.name, of=2)]

    def listed(self, faults: Faults, seen: list[SeenWorkload], now: int) -> Iterable[SeenWorkload]:
        """Workloads as they are listed."""
        kept = list(self.part_of(faults, seen, now))
        if not any(fault.kind is FaultKind.DUPLICATE and fault.covers(now) for fault in faults.all):
            return kept
        return [*kept, *(one for one in kept if self._is_doubled(faults, one, now))]

    def _is_doubled(self, faults: Faults, one: SeenWorkload, now: int) -> bool:
        found = faults.of_call(one.name, one.job_id, sorted({member.node for member in one.members}))
        return any(self._acts(fault, FaultKind.DUPLICATE, now, one.name) for fault in found)

    def _lose(self, faults: Faults, verb: str, about: About, now: int, *, before: bool) -> None:
        name, job_id, nodes = about
        found = faults.of_call(name, job_id, nodes)
        lost = any(self._acts(fault, FaultKind.LOSSY, now, verb, name, now) for fault in found)
        if lost and bool(roll(self._seed, verb, name, now, "way", of=2)) is before:
            raise DriverUnavailable(f"simulated: {verb} of {name} was not answered", reason="Unanswered")

    def _of_cluster(self, faults: Faults, kind: FaultKind, now: int, verb: str) -> Iterable[bool]:
        return (self._acts(fault, kind, now, verb, now) for fault in faults.of_cluster)

    def _acts(self, fault: Fault, kind: FaultKind, now: int, *words: object) -> bool:
        return fault.kind is kind and fault.covers(now) and fault.hits(self._seed, *words)
