"""What a simulated cluster remembers, in memory: for tests and replays. `sqlite` keeps the same on disk."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from .faults import Fault, Faults
from .records import NO_FENCE, Applied, Fence


@dataclass
class State:
    """All workloads and faults at one moment. Only a store changes it; readers take copies of what they walk over."""

    records: dict[str, Applied] = field(default_factory=dict)
    on_nodes: dict[str, dict[str, None]] = field(default_factory=dict)
    """Node -> names of the workloads with a member there."""
    faults: Faults = field(default_factory=Faults)

    def put(self, record: Applied) -> None:
        """Add a workload, or replace it; one that is replaced is there at every moment."""
        known = self.records.get(record.name)
        self.records[record.name] = record
        if known is not None and known.nodes != record.nodes:
            self._leave(known)
        for node in record.nodes:
            self.on_nodes.setdefault(node, {})[record.name] = None

    def drop(self, name: str) -> None:
        """Leave a workload out."""
        record = self.records.pop(name, None)
        if record is not None:
            self._leave(record)

    def at(self, node: str) -> list[Applied]:
        """Workloads with a member on a node."""
        found = (self.records.get(name) for name in list(self.on_nodes.get(node, ())))
        return [record for record in found if record is not None]

    def _leave(self, record: Applied) -> None:
        for node in record.nodes:
            self.on_nodes[node].pop(record.name, None)


class Transaction(Protocol):
    """What may be changed, all of it or nothing, while nobody else changes anything."""

    @property
    def state(self) -> State:
        """As it is when the transaction begins."""

    def put(self, record: Applied) -> None:
        """Make a workload exist, or change it."""

    def remove(self, name: str) -> None:
        """Forget a workload."""

    def fence(self, job_id: str) -> Fence:
        """The fence of a job, `NO_FENCE` when it has none."""

    def set_fence(self, job_id: str, fence: Fence) -> None:
        """Raise it."""

    def hints(self, *keys: str) -> Mapping[str, Any]:
        """What was foretold of these, later ones counting more."""

    def set_hints(self, key: str, hints: Mapping[str, Any]) -> None:
        """Foretell, in place of what was foretold before."""

    def add_fault(self, fault: Fault) -> Fault:
        """Add one; the answer has its key."""

    def change_fault(self, fault: Fault) -> None:
        """Replace the one of this key."""


class Store(Protocol):
    """The memory of one simulated cluster. A failure of it raises DriverUnavailable."""

    def read(self) -> State:
        """What is remembered now."""

    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction: committed at the end of the block, undone by an exception."""

    def deferred(self) -> AbstractContextManager[None]:
        """All transactions of this block as one: fast, and lost together when the process dies in it."""


class MemoryStore:
    """A store that lives and dies with its process; its transactions are safe among threads."""

    def __init__(self) -> None:
        self._state = State()
        self._lock = threading.RLock()
        self._fences: dict[str, Fence] = {}
        self._hints: dict[str, Mapping[str, Any]] = {}
        self._keys = 0

    def read(self) -> State:
        """See `Store.read`."""
        return self._state

    @contextmanager
    def write(self) -> Iterator["MemoryTransaction"]:
        """See `Store.write`."""
        with self._lock:
            transaction = MemoryTransaction(self)
            yield transaction
            transaction.commit()

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """See `Store.deferred`: here nothing is slow."""
        yield


class MemoryTransaction:
    """Changes that are kept back until the end."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._changes: list[tuple[str, Any]] = []

    @property
    def state(self) -> State:
        """See `Transaction.state`."""
        return self._store._state

    def put(self, record: Applied) -> None:
        """See `Transaction.put`."""
        self._changes.append(("put", record))

    def remove(self, name: str) -> None:
        """See `Transaction.remove`."""
        self._changes.append(("remove", name))

    def fence(self, job_id: str) -> Fence:
        """See `Transaction.fence`."""
        return self._store._fences.get(job_id, NO_FENCE)

    def set_fence(self, job_id: str, fence: Fence) -> None:
        """See `Transaction.set_fence`."""
        self._changes.append(("fence", (job_id, fence)))

    def hints(self, *keys: str) -> Mapping[str, Any]:
        """See `Transaction.hints`."""
        return {name: value for key in keys for name, value in self._store._hints.get(key, {}).items()}

    def set_hints(self, key: str, hints: Mapping[str, Any]) -> None:
        """See `Transaction.set_hints`."""
        self._changes.append(("hints", (key, dict(hints))))

    def add_fault(self, fault: Fault) -> Fault:
        """See `Transaction.add_fault`."""
        self._store._keys += 1
        keyed = replace(fault, key=self._store._keys)
        self._changes.append(("fault", keyed))
        return keyed

    def change_fault(self, fault: Fault) -> None:
        """See `Transaction.change_fault`."""
        self._changes.append(("fault", fault))

    def commit(self) -> None:
        """Let it all be true."""
        store = self._store
        for kind, value in self._changes:
            if kind == "put":
                store._state.put(value)
            elif kind == "remove":
                store._state.drop(value)
            elif kind == "fence":
                store._fences[value[0]] = value[1]
            elif kind == "hints":
                store._hints[value[0]] = value[1]
            else:
                store._state.faults = with_fault(store._state.faults, value)


def with_fault(faults: Faults, fault: Fault) -> Faults:
    """These and this one, in place of the one with its key; always in the order of keys, on which courses depend."""
    return Faults(tuple(({one.key: one for one in faults.all} | {fault.key: fault}).values()))
