"""The simulated driver: the contract's verbs over a world that only pretends."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from portal.lib.clock import from_ms, to_ms
from portal.lib.text import gettext_noop
from resources.drivers.base import (
    Capability,
    DriverUnavailable,
    Inventory,
    Observation,
    ReleaseReading,
    Workload,
    WorkloadRejected,
)

from .behaviour import BadBehaviour, Behaviour, behaviour_of, read_hints
from .calls import Calls
from .check import admitted, check
from .clock import simulated_now
from .faults import Fault, FaultKind
from .fleet import THOUSAND, Fleet
from .log import log_text
from .records import Applied, Stop
from .release import Held, nothing_held, reading_of, release_reading
from .store import MemoryStore, State, Store, Transaction
from .world import World

NOTHING_RUNS = gettext_noop("This cluster is simulated: no program runs on it, so there is nothing to keep apart.")
_LARGEST_READ = 4 << 20


class SimulatedDriver:
    """A `Driver` (see `resources.drivers.base`) for a fleet that exists only on paper.

    Several drivers may share a store's folder, in one process or in many. `foretell`, `inflict` and `relent` are what
    a test or a demo may do to the world; no portal code calls them.
    """

    def __init__(
        self, *, fleet: Fleet, store: Store | None = None, clock: Callable[[], datetime] = simulated_now
    ) -> None:
        self.fleet = fleet
        self.store: Store = store if store is not None else MemoryStore()
        self._clock = clock
        self._world = World(fleet)
        self._calls = Calls(fleet.seed)

    # --- the contract

    def capability(self) -> Capability:
        """Everything works here, and nothing of it is real."""
        return Capability(isolation=True, isolation_detail=NOTHING_RUNS, simulated=True)

    def inventory(self) -> Inventory:
        """The fleet as it reports itself now."""
        now, state = self._now(), self.store.read()
        self._calls.answer(state.faults, "inventory", now)
        nodes = self._world.nodes(state.faults, now)
        kept = self._calls.part_of(state.faults, nodes, now)
        return Inventory(nodes=tuple(kept), at=from_ms(now), complete=not self._calls.is_partial(state.faults, now))

    def facts(self) -> None:
        """Nothing beside its nodes."""

    def apply(self, workload: Workload) -> None:
        """Settle what the workload will do, once."""
        check(self.fleet, workload)
        now = self._now()
        nodes = [member.node for member in workload.members]
        with self._call("apply", workload.name, workload.job_id, nodes, now), self.store.write() as transaction:
            self._accept(transaction, workload, now)

    def observe(self) -> Observation:
        """Every workload not forgotten."""
        now, state = self._now(), self.store.read()
        self._calls.answer(state.faults, "observe", now)
        seen = self._world.workloads(state, now)
        listed = self._calls.listed(state.faults, seen, now)
        complete = not self._calls.is_partial(state.faults, now)
        return Observation(workloads=tuple(listed), at=from_ms(now), complete=complete)

    def stop(self, name: str, *, attempt_id: str, grace_ms: int) -> None:
        """Write down the wish; what follows from it is seen when its time has come."""
        now = self._now()
        with self._call_about(name, "stop", now), self.store.write() as transaction:
            record = transaction.state.records.get(name)
            if record is None or record.attempt_id != attempt_id:
                return
            deadline = now + max(0, grace_ms)
            if record.stop is None:
                transaction.put(replace(record, stop=Stop(now, deadline)))
            elif deadline < record.stop.deadline_ms:
                transaction.put(replace(record, stop=Stop(record.stop.asked_ms, deadline)))

    def release(self, name: str, *, attempt_id: str) -> ReleaseReading:
        """What its members still hold."""
        now = self._now()
        with self._call_about(name, "release", now):
            state = self.store.read()
            record = state.records.get(name)
            if record is None or record.attempt_id != attempt_id:
                return nothing_held(from_ms(now))
            beside = self._beside(state, record.name, record.nodes, now) if _has_devices(record) else []
            return release_reading(record, self._held(state, record, now), beside, from_ms(now))

    def logs(self, name: str, *, member: int, offset: int, limit: int) -> tuple[bytes, int]:
        """A piece of a member's made-up log."""
        now = self._now()
        with self._call_about(name, "logs", now):
            text = self._log(self.store.read(), name, member, now)
        begin = max(0, len(text) + offset) if offset < 0 else offset
        data = text[begin : begin + max(0, min(limit, _LARGEST_READ))]
        return data, begin + len(data)

    def forget(self, name: str, *, attempt_id: str) -> None:
        """Remove an ended workload; its attempt can never be applied again."""
        now = self._now()
        with self._call_about(name, "forget", now), self.store.write() as transaction:
            record = transaction.state.records.get(name)
            if record is None or record.attempt_id != attempt_id:
                return
            if any(one.objects or one.objects is None for one in self._held(transaction.state, record, now)):
                raise DriverUnavailable(f"{name} is not over", reason="StillRunning")
            fence = transaction.fence(record.job_id).raised(record.generation, attempt_id, closed=True)
            if fence is not None:
                transaction.set_fence(record.job_id, fence)
            transaction.remove(name)

    # --- what a test or a demo may do to the world

    def foretell(self, key: str, **hints: Any) -> None:
        """What the workload of this name, or the next ones of this job, will do: fields of `Behaviour`.

        Counts for what is applied from now on, in place of what was foretold before. Raises BadBehaviour.
        """
        read_hints(hints)
        with self.store.write() as transaction:
            transaction.set_hints(key, hints)

    def inflict(
        self,
        kind: FaultKind,
        *,
        node: str = "",
        workload: str = "",
        device: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        chance: int = THOUSAND,
        delay_ms: int = 0,
        mode: str = "",
    ) -> Fault:
        """Let something go wrong in [since, until), at the earliest in a millisecond: the past stands."""
        soonest = self._now() + 1
        fault = Fault(
            kind=FaultKind(kind),
            since_ms=max(soonest, to_ms(since) if since else soonest),
            until_ms=to_ms(until) if until else None,
            node=node,
            workload=workload,
            device=device,
            chance=chance,
            delay_ms=delay_ms,
            mode=mode,
        )
        with self.store.write() as transaction:
            return transaction.add_fault(fault)

    def next_turn(self, name: str, *, after: datetime) -> datetime | None:
        """When this workload next looks different or gives something back, as far as that is settled; None: never.

        For those who drive the clock and would not wait.
        """
        state = self.store.read()
        record = state.records.get(name)
        if record is None:
            return None
        turns = self._world.turns(record, state.faults)
        following = [turn for turn in turns if turn > to_ms(after)]
        return from_ms(min(following)) if following else None

    def relent(self, fault: Fault) -> None:
        """Let it end in a millisecond; what it has done stays done."""
        end = self._now() + 1
        with self.store.write() as transaction:
            known = next((one for one in transaction.state.faults.all if one.key == fault.key), None)
            if known is not None and (known.until_ms is None or known.until_ms > end):
                transaction.change_fault(replace(known, until_ms=end))

    # --- how

    def _now(self) -> int:
        return to_ms(self._clock())

    @contextmanager
    def _call(self, verb: str, name: str, job_id: str, nodes: list[str], now: int) -> Iterator[None]:
        """A call that the faults let through, and whose answer they let come back."""
        faults = self.store.read().faults
        self._calls.answer(faults, verb, now)
        self._calls.send(faults, verb, (name, job_id, nodes), now)
        yield
        self._calls.come_back(faults, verb, (name, job_id, nodes), now)

    @contextmanager
    def _call_about(self, name: str, verb: str, now: int) -> Iterator[None]:
        record = self.store.read().records.get(name)
        job_id, nodes = (record.job_id, sorted(record.nodes)) if record else ("", [])
        with self._call(verb, name, job_id, nodes, now):
            yield

    def _accept(self, transaction: Transaction, workload: Workload, now: int) -> None:
        state = transaction.state
        record = state.records.get(workload.name)
        if record is not None and (record.attempt_id, record.job_id) != (workload.attempt_id, workload.job_id):
            raise WorkloadRejected(f"{workload.name} belongs to another attempt", reason="NameTaken")
        known = transaction.fence(workload.job_id)
        fence = known.raised(workload.generation, workload.attempt_id)
        if fence is None:
            detail = f"{workload.name}: generation {workload.generation} is past"
            raise WorkloadRejected(detail, reason="FencedOut")
        if record is not None and (record.stop or self._world.is_listed(record, state.faults, now)):
            return
        behaviour = self._behaviour(transaction, workload)
        if fence != known:
            transaction.set_fence(workload.job_id, fence)
        transaction.put(self._applied(state, workload, behaviour, record, now))

    def _behaviour(self, transaction: Transaction, workload: Workload) -> Behaviour:
        try:
            return behaviour_of(self.fleet, workload, transaction.hints(workload.job_id, workload.name))
        except BadBehaviour as error:
            raise WorkloadRejected(str(error), reason="InvalidBehaviour") from None

    def _applied(
        self, state: State, workload: Workload, behaviour: Behaviour, vanished: Applied | None, now: int
    ) -> Applied:
        beside = self._beside(state, workload.name, {member.node for member in workload.members}, now)
        holding = [one.member for one in beside if one.objects and not one.member.refused]
        return Applied(
            name=workload.name,
            job_id=workload.job_id,
            attempt_id=workload.attempt_id,
            generation=workload.generation,
            task_type=workload.task_type,
            applied_ms=now,
            members=admitted(self.fleet, workload.members, holding),
            behaviour=behaviour,
            gang=workload.gang,
            serves=workload.serves,
            time_limit_ms=workload.time_limit_ms,
            grace_ms=workload.grace_ms,
            incarnation=vanished.incarnation + 1 if vanished else 0,
        )

    def _beside(self, state: State, name: str, nodes: Iterable[str], now: int) -> list[Held]:
        """What others hold on these nodes, and their other members elsewhere."""
        others = {record.name: record for node in nodes for record in state.at(node) if record.name != name}
        return [one for other in others.values() for one in self._held(state, other, now)]

    def _held(self, state: State, record: Applied, now: int) -> list[Held]:
        return reading_of(self.fleet, record, self._world.lines(record, state.faults), state.faults, now)

    def _log(self, state: State, name: str, member: int, now: int) -> bytes:
        record = state.records.get(name)
        lines = self._world.lines(record, state.faults) if record else ()
        line = next((line for line in lines if line.member.index == member), None)
        if record is None or line is None or (line.gone is not None and line.gone <= now):
            return b""
        return log_text(record, line, self.fleet.name, now)


def _has_devices(record: Applied) -> bool:
    return any(member.devices for member in record.members)
