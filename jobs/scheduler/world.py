"""Free capacity as arrays: what every host could still take, kept current while a pass gives it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from jobs.scheduler.lessons import Kin, Lessons, learn
from jobs.scheduler.snapshot import (
    Axis,
    Device,
    DeviceShare,
    Holding,
    Host,
    Line,
    Resource,
    ResourceClass,
    Snapshot,
)

Ints = npt.NDArray[np.int64]
Rows = slice | Ints  # which hosts
NO_BOUND = np.iinfo(np.int64).max // 4
MANY = 1 << 30  # pods on a host without a bound: summed over all hosts it still fits
_BROKEN = 1 << 40  # a broken device counts this much below what is free of it, so that nothing is given from it
_CPU_BITS = 31
_CPU_MOST = (1 << _CPU_BITS) - 1
_device_key = attrgetter("key")
_Number = TypeVar("_Number", int, Ints)


def _tight(devices: _Number, cpu: _Number) -> _Number:
    """One number that orders by devices first and CPU second; `cpu` must not pass `_CPU_MOST`."""
    return (devices << _CPU_BITS) + cpu


class Site(NamedTuple):
    """The hosts of one pool in one cluster, which are the rows `start` to `stop` of every host array."""

    number: int
    pool: str
    cluster: str
    start: int
    stop: int

    @property
    def rows(self) -> slice:
        """The rows of this site."""
        return slice(self.start, self.stop)


class DeviceTable:
    """Every device of one class. `left: int64[host, slot]` are its free parts, below 0 where nothing can be had.

    `exists: bool[host, slot]` tells devices from empty slots, `broken: bool[host, slot]` those out of order.
    """

    def __init__(self, kind: ResourceClass, hosts: int, devices: dict[int, list[Device]]) -> None:
        """`devices[host]` are a host's devices of this class, in order; hosts without any are left out."""
        self.whole, self.divisible = kind.whole, kind.divisible
        self.keys = {row: tuple(device.key for device in of_host) for row, of_host in devices.items()}
        shape = (hosts, max(map(len, devices.values()), default=0))
        self.exists = np.zeros(shape, dtype=np.bool_)
        self.broken = np.zeros(shape, dtype=np.bool_)
        self.left: Ints = np.full(shape, -1, dtype=np.int64)
        for row, of_host in devices.items():
            self.exists[row, : len(of_host)] = True
            self.left[row, : len(of_host)] = self.whole
            for slot, device in enumerate(of_host):
                if device.foreign or not device.healthy:
                    self.broken[row, slot] = not device.healthy
                    self.left[row, slot] -= device.foreign + (0 if device.healthy else _BROKEN)

    def room(self, rows: Rows, amount: int) -> Ints:
        """How many times each host has `amount`: n whole devices, or a part of one; 0 where it cannot be asked."""
        left = self.left[rows]
        if amount % self.whole == 0:
            whole: Ints = (left == self.whole).sum(axis=1) // (amount // self.whole)
            return whole
        if amount > self.whole or not self.divisible:
            return np.zeros(left.shape[0], dtype=np.int64)
        parts: Ints = (np.maximum(left, 0) // amount).sum(axis=1)
        return parts

    def take(self, host: int, amount: int, slot: int | None = None) -> tuple[DeviceShare, ...]:
        """The devices given for `amount`: whole ones by key, a part from `slot` or from the device it fills best."""
        left = self.left[host]
        keys = self.keys[host]
        if amount % self.whole == 0:
            chosen = np.flatnonzero(left == self.whole)[: amount // self.whole]
            left[chosen] = 0
            return tuple(DeviceShare(keys[slot], self.whole) for slot in chosen.tolist())
        if slot is None:
            slot = int(np.where(left >= amount, left, NO_BOUND).argmin())
        left[slot] -= amount
        return (DeviceShare(keys[slot], amount),)

    def move(self, host: int, shares: Iterable[DeviceShare], sign: int) -> None:
        """Give parts back (1) or take them away (-1); devices that are not in the table are left alone."""
        keys = self.keys.get(host, ())
        for device, parts in shares:
            if device in keys:
                self.left[host, keys.index(device)] += sign * parts

    def withhold(self, host: int, parts: int) -> None:
        """Take parts that others hold, nobody says on which devices: from those that have most left, the last first."""
        left = self.left[host]
        while parts > 0:
            slot = len(left) - 1 - int(left[::-1].argmax())
            taken = min(parts, int(left[slot]))
            if taken <= 0:
                return
            left[slot] -= taken
            parts -= taken

    def usable(self, rows: Rows) -> Ints:
        """int64[host]: the free parts of each host; an overcommitted device counts as full."""
        parts: Ints = np.maximum(self.left[rows], 0).sum(axis=1)
        return parts

    def with_left(self, left: Ints) -> DeviceTable:
        """A table of the same devices with other free parts."""
        twin = object.__new__(DeviceTable)
        twin.__dict__.update(self.__dict__)
        twin.left = left
        return twin

    def mended(self) -> DeviceTable:
        """An independent table in which every device works."""
        return self.with_left(self.left + self.broken * _BROKEN)

    def emptied(self) -> DeviceTable:
        """An independent table in which every device works and is free."""
        return self.with_left(np.where(self.exists, self.whole, -1).astype(np.int64))


class World:
    """Free capacity of all hosts, in the snapshot's order.

    `free: int64[host, axis]` may be negative where more is held than there is; of devices it counts usable parts.
    `total` of the same shape is what is in service at all. `slots: int64[host]` are pods still taken.
    `cpu: int64[host]` is the free CPU, `all_cpu` all there is of it. `tight: int64[host]` orders hosts by fewest free
    devices, then by least free CPU. `changes[site]` is the log of rows that changed, for whoever keeps figures of
    their own, and `changes_of[axis][site]` that of the rows with devices of one class. `lessons` is what recorded
    shapes teach about these hosts, where there are any.
    """

    hosts: tuple[Host, ...]
    row: dict[str, int]
    axes: tuple[Axis, ...]
    column: dict[Axis, int]
    sites: dict[str, tuple[Site, ...]]
    site_of: list[Site]
    tables: dict[Axis, DeviceTable]
    total: Ints
    free: Ints
    slots: Ints
    cpu: Ints
    all_cpu: Ints
    tight: Ints
    changes: list[list[int]]
    changes_of: dict[Axis, list[list[int]]]
    lessons: Lessons | None = None

    @classmethod
    def of(cls, snapshot: Snapshot) -> World:
        """The world as it is, less all that is held."""
        world = cls()
        world.hosts = snapshot.hosts
        world.row = {host.key: row for row, host in enumerate(world.hosts)}
        world._find_sites()
        world._measure(snapshot)
        world.enter(snapshot.holdings, -1)
        world._withhold_foreign_devices()
        if snapshot.history:
            wholes = tuple((axis.class_key, table.whole) for axis, table in world.tables.items())
            world.lessons = learn(snapshot.history, snapshot.leftovers, tuple(sorted(world.kin())), wholes)
        return world._settled()

    def kin(self) -> Iterator[Kin]:
        """All hosts with devices, those that are alike together, whatever is held or out of order."""
        for axis, table in self.tables.items():
            devices = table.exists.sum(axis=1)
            alike = Counter(zip(devices.tolist(), self.all_cpu.tolist(), strict=True))
            for (count, cpu), hosts in alike.items():
                if count:
                    yield Kin(axis.class_key, count, cpu, hosts)

    def copy(self) -> World:
        """An independent world in the same state, with an empty log."""
        return self._twin({axis: table.with_left(table.left.copy()) for axis, table in self.tables.items()})

    def mended(self) -> World:
        """The same with every device working."""
        return self._twin({axis: table.mended() for axis, table in self.tables.items()})._settled()

    def emptied(self) -> World:
        """The same with nothing held, nothing foreign and nothing broken: the most that could ever be free."""
        world = self._twin({axis: table.emptied() for axis, table in self.tables.items()})
        world.free = self._allocatable.copy()
        world.slots = self._all_slots.copy()
        world._settled()
        world.total = world.free.copy()
        return world

    def _twin(self, tables: dict[Axis, DeviceTable]) -> World:
        twin = World()
        twin.__dict__.update(self.__dict__)
        twin.tables = tables
        twin.free, twin.slots = self.free.copy(), self.slots.copy()
        twin.cpu, twin.tight = self.cpu.copy(), self.tight.copy()
        twin._begin_logs()
        return twin

    def _begin_logs(self) -> None:
        sites = range(sum(len(of_pool) for of_pool in self.sites.values()))
        self.changes = [[] for _ in sites]
        self.changes_of = {axis: [[] for _ in sites] for axis in self.tables}

    def log(self, site: Site, lines: Sequence[Line]) -> list[int]:
        """The log of the rows of a site that matter to a pod of `lines`; rows without its devices never do."""
        for axis, _ in lines:
            if axis in self.changes_of:
                return self.changes_of[axis][site.number]
        return self.changes[site.number]

    def rows_for(self, site: Site, lines: Sequence[Line]) -> Ints:
        """The rows of a site that have devices for a pod of `lines`; all of them when it asks for none."""
        rows = np.arange(site.start, site.stop, dtype=np.int64)
        for axis, _ in lines:
            if axis in self.tables:
                have: Ints = rows[self.tables[axis].exists[rows, 0]]
                return have
        return rows

    def _logged(self, row: int) -> None:
        site = self.site_of[row].number
        self.changes[site].append(row)
        for axis in self._axes_of[row]:
            self.changes_of[axis][site].append(row)

    def _find_sites(self) -> None:
        sites: list[Site] = []
        for (pool, cluster), hosts in groupby(self.hosts, key=lambda host: (host.pool, host.cluster)):
            start = sites[-1].stop if sites else 0
            sites.append(Site(len(sites), pool, cluster, start, start + sum(1 for _ in hosts)))
        self.site_of = [site for site in sites for _ in range(site.start, site.stop)]
        self.sites = {pool: tuple(found) for pool, found in groupby(sites, key=lambda site: site.pool)}

    def _measure(self, snapshot: Snapshot) -> None:
        self.tables = _device_tables(snapshot)
        self._axes_of = [
            tuple(axis for axis, table in self.tables.items() if row in table.keys) for row in range(len(self.hosts))
        ]
        self._begin_logs()
        plain = {line.axis for host in self.hosts for line in host.allocatable}
        self.axes = tuple(sorted(plain | self.tables.keys()))
        self.column = {axis: column for column, axis in enumerate(self.axes)}
        self._device_columns = [self.column[axis] for axis in self.tables]
        self._cpu_columns = [c for axis, c in self.column.items() if axis.resource is Resource.CPU]
        self._allocatable = self._table_of("allocatable")
        self.free = self._allocatable - self._table_of("foreign")
        self.total = self._allocatable.copy()
        for axis, table in self.tables.items():
            in_service = (table.exists & ~table.broken).sum(axis=1) * table.whole
            self.total[:, self.column[axis]] = in_service
        slots = [MANY if host.slots is None else host.slots for host in self.hosts]
        self._all_slots: Ints = np.array(slots, dtype=np.int64)
        self.slots = self._all_slots.copy()
        self.all_cpu = self._allocatable[:, self._cpu_columns].sum(axis=1)
        self.cpu = self.all_cpu.copy()
        self.tight = np.zeros(len(self.hosts), dtype=np.int64)

    def _withhold_foreign_devices(self) -> None:
        """After our own, which are known by name: others hold some of what is left."""
        for row, host in enumerate(self.hosts):
            for axis, amount in host.foreign:
                if axis in self.tables:
                    self.tables[axis].withhold(row, amount)

    def _table_of(self, field: str) -> Ints:
        """int64[host, axis]: the lines of one field of the hosts."""
        amounts = np.zeros((len(self.hosts), len(self.axes)), dtype=np.int64)
        for row, host in enumerate(self.hosts):
            for axis, amount in getattr(host, field):
                if axis in self.column:
                    amounts[row, self.column[axis]] += amount
        return amounts

    def _settled(self, rows: Rows = slice(None)) -> World:
        """This world with all that follows from the arrays, for some hosts or all."""
        for axis, table in self.tables.items():
            self.free[rows, self.column[axis]] = table.usable(rows)
        free = self.free[rows]
        cpu = self.cpu[rows] = free[:, self._cpu_columns].sum(axis=1)
        self.tight[rows] = _tight(free[:, self._device_columns].sum(axis=1), np.clip(cpu, 0, _CPU_MOST))
        return self

    def enter(self, holdings: Iterable[Holding], sign: int) -> None:
        """Free what all of these hold (1), or take it (-1); hosts that are not here are passed over."""
        rows: list[int] = []
        cells: list[tuple[int, int, int]] = []
        for holding in holdings:
            row = self.row.get(holding.host)
            if row is None:
                continue
            rows.append(row)
            self.slots[row] += sign * holding.pods
            for axis, amount in holding.lines:
                table = self.tables.get(axis)
                if table is not None:
                    table.move(row, holding.devices, sign)
                elif axis in self.column:
                    cells.append((row, self.column[axis], sign * amount))
        if cells:
            where_row, where_column, amounts = zip(*cells, strict=True)
            np.add.at(self.free, (where_row, where_column), amounts)
        if rows:
            self._settled(np.array(rows, dtype=np.int64))
        for row in rows:
            self._logged(row)

    def room(self, rows: Rows, lines: Sequence[Line]) -> Ints:
        """How many pods of `lines` each of the hosts could take, never negative."""
        room = self.slots[rows]
        for axis, amount in lines:
            room = np.minimum(room, self.line_room(rows, axis, amount))
        return np.maximum(room, 0)

    def line_room(self, rows: Rows, axis: Axis, amount: int) -> Ints | int:
        """How many times each of the hosts has an amount of one axis; negative where it is overcommitted."""
        table = self.tables.get(axis)
        if table is not None:
            return table.room(rows, amount)
        column = self.column.get(axis)
        return 0 if column is None else self.free[rows, column] // amount

    def take(self, host: int, lines: Sequence[Line], slot: int | None = None) -> tuple[DeviceShare, ...]:
        """Give one pod what it asks on a host that has room for it; the devices it got.

        `slot`: the device that a part is taken from; the one it fills best without.
        """
        shares: tuple[DeviceShare, ...] = ()
        for axis, amount in lines:
            self.free[host, self.column[axis]] -= amount
            table = self.tables.get(axis)
            if table is not None:
                shares += table.take(host, amount, slot)
                slot = None  # it was of the first class
        self.slots[host] -= 1
        self._changed(host)
        return shares

    def give(self, host: int, lines: Sequence[Line], shares: Sequence[DeviceShare]) -> None:
        """Free what one pod holds on a host; the exact opposite of `take`."""
        for axis, amount in lines:
            self.free[host, self.column[axis]] += amount
            table = self.tables.get(axis)
            if table is not None:
                table.move(host, shares, 1)
        self.slots[host] += 1
        self._changed(host)

    def _changed(self, host: int) -> None:
        free = self.free[host].tolist()
        devices = sum(max(free[column], 0) for column in self._device_columns)
        cpu = self.cpu[host] = sum(free[column] for column in self._cpu_columns)
        self.tight[host] = _tight(devices, min(max(cpu, 0), _CPU_MOST))
        self._logged(host)


def _device_tables(snapshot: Snapshot) -> dict[Axis, DeviceTable]:
    """One table per catalogued device class that any host has; devices of unknown classes cannot be given."""
    kinds = {kind.key: kind for kind in snapshot.classes if kind.resource is Resource.DEVICE}
    found: dict[str, dict[int, list[Device]]] = {key: {} for key in sorted(kinds)}
    for row, host in enumerate(snapshot.hosts):
        for device in host.devices:
            if device.class_key in kinds:
                found[device.class_key].setdefault(row, []).append(device)
    for of_class in found.values():
        for of_host in of_class.values():
            of_host.sort(key=_device_key)
    return {
        Axis(key, Resource.DEVICE): DeviceTable(kinds[key], len(snapshot.hosts), of_class)
        for key, of_class in found.items()
        if of_class
    }
