"""What the driver itself chooses for a member: CPUs and, for a service, a port."""

import contextlib
import random
import socket
from collections import Counter
from collections.abc import Iterable, Sequence

from resources.drivers.base import DriverUnavailable, MemberSpec

from .inventory import usable_cpus
from .launcher import records
from .launcher.records import Record
from .store import Store

_TRIES = 64


def live_members(store: Store) -> list[Record]:
    """Record entries of every member that has not ended."""
    found = []
    for name in store.names():
        with contextlib.suppress(ValueError):  # another workload's unreadable record is not our trouble
            for entry in (store.record(name) or {"members": []})["members"]:
                if not (store.member(name, entry["index"]) / records.EXIT).exists():
                    found.append(entry)
    return found


def choose_cpus(member: MemberSpec, live: Iterable[Record]) -> tuple[int, ...]:
    """The CPUs granted, or as many as the request needs, those with the fewest members first."""
    if member.cpus:
        return tuple(sorted(member.cpus))
    load = Counter(cpu for entry in live for cpu in entry["cpus"])
    wanted = -(-member.cpu_milli // 1000)
    return tuple(sorted(sorted(usable_cpus(), key=lambda cpu: (load[cpu], cpu))[:wanted]))


def choose_port(ports: Sequence[int], live: Iterable[Record]) -> int:
    """A loopback port that no live member has and that nobody listens on now."""
    taken = {entry["port"] for entry in live}
    for _ in range(_TRIES):
        port = random.choice(ports)
        if port not in taken and _is_free(port):
            return port
    raise DriverUnavailable(f"no free port among {ports}", reason="NoPort")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
