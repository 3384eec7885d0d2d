"""Who wanted what when: eight weeks of wishes of a small organisation, the same for every installation. Pure.

Wishes follow working hours, come in sweeps, and grow before a deadline; what becomes of them is for the scheduler and
the simulated clusters to decide.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

SEED = 20_261
_MINUTE = timedelta(minutes=1)
_DAY = timedelta(days=1)
_COUNTED, _HORIZON = timedelta(weeks=8), timedelta(weeks=10)
_LONGEST, _LONGEST_LIMIT = timedelta(days=9), timedelta(days=14)
# Wishes by hour of the day, UTC: the organisation works from eight to seven, and a few jobs are set off at night.
_HOURS = (1, 1, 1, 1, 1, 1, 2, 5, 10, 13, 14, 11, 8, 12, 14, 13, 11, 8, 5, 3, 2, 2, 1, 1)
_WEEKDAYS = (10, 11, 11, 11, 9, 2, 2)


@dataclass(frozen=True, slots=True)
class Wish:
    """One job somebody asks for; `fields` are those of a job request, as typed."""

    at: datetime
    project: str
    person: str
    template: str
    fields: Mapping[str, Any]
    params: Mapping[str, Any]
    cancelled_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of job: its template, where it may run, its sizes, and how long it lasts (median and spread)."""

    template: str
    share: int
    median: timedelta
    spread: float
    pools: Mapping[str, str]
    """Pool -> class of devices, "" for none."""
    devices: tuple[int, ...] = (0,)
    members: tuple[int, ...] = (1,)
    cpu: str = "8"
    memory: str = "32Gi"
    sweep: tuple[int, ...] = (1,)
    ends: Mapping[str, int] = field(default_factory=lambda: {"habit": 1})
    span: str = "lasts"


@dataclass(frozen=True, slots=True)
class Group:
    """A project: its people and what they mostly do, as weights."""

    slug: str
    people: tuple[str, ...]
    weight: int
    pools: Mapping[str, int]
    topics: tuple[str, ...]


GPU, OLD, SLICE, NPU, SMALL, EDGE = "h100", "a100", "slices", "npu", "npu-small", "edge"
CLASSES: Mapping[str, str] = {
    GPU: "gpu-h100",
    OLD: "gpu-a100",
    SLICE: "gpu-slice-10g",
    NPU: "npu-910b",
    SMALL: "npu-310p",
    EDGE: "",
}


def _on(*pools: str) -> dict[str, str]:
    return {pool: CLASSES[pool] for pool in pools}


_HARD = {"habit": 20, "success": 8, "error": 3, "out-of-memory": 2, "start-failed": 1}
KINDS = (
    Kind("rehearse-data-processing", 20, timedelta(minutes=45), 0.8, _on(EDGE),
         members=(4, 4, 8, 12), cpu="4", memory="8Gi", sweep=(1, 1, 2)),
    Kind("rehearse-training", 22, timedelta(hours=20), 0.9, _on(GPU, OLD, NPU),
         devices=(8, 8, 8, 4), members=(1, 1, 1, 2, 2, 4), cpu="64", memory="400Gi", sweep=(1, 1, 1, 3), ends=_HARD),
    Kind("rehearse-fine-tuning", 18, timedelta(hours=7), 0.8, _on(GPU, OLD, NPU),
         devices=(4, 8, 2), cpu="32", memory="200Gi", sweep=(1, 2, 4), ends=_HARD),
    Kind("rehearse-evaluation", 20, timedelta(hours=2), 0.7, _on(OLD, SLICE, NPU, SMALL),
         devices=(1, 1, 2, 4), cpu="8", memory="32Gi", sweep=(2, 3, 4, 6)),
    Kind("rehearse-batch", 8, timedelta(hours=1), 0.9, _on(EDGE, SLICE),
         devices=(0,), members=(1, 2, 4), cpu="4", memory="8Gi", sweep=(1, 1, 2)),
    Kind("rehearse-session", 10, timedelta(hours=5), 0.6, _on(OLD, SLICE, SMALL),
         devices=(1, 1, 2), cpu="4", memory="24Gi", span="time_to_live",
         ends={"habit": 24, "never-started": 1}),
    Kind("rehearse-inference", 4, timedelta(days=3), 0.8, _on(SLICE, SMALL, OLD),
         devices=(1,), members=(1, 2, 3), cpu="4", memory="24Gi", span=""),
)  # fmt: skip
GROUPS = (
    Group(
        "inspection",
        ("researcher", "owner", "lead"),
        24,
        {GPU: 6, OLD: 2, SLICE: 4, EDGE: 4},
        ("insulators", "line-sag", "corrosion", "vegetation"),
    ),
    Group("corpus", ("lead",), 16, {GPU: 6, OLD: 1, EDGE: 5}, ("web-2026", "code", "patents", "papers")),
    Group(
        "imaging",
        ("researcher-vision", "lead-vision"),
        20,
        {OLD: 4, SLICE: 6, EDGE: 3},
        ("ct-lesions", "retina", "mammography", "mri-denoise"),
    ),
    Group("mapping", ("lead-vision",), 10, {NPU: 5, SMALL: 2, EDGE: 2}, ("slopes", "flood-lines", "roads")),
    Group(
        "forecasting",
        ("researcher-systems", "lead-systems"),
        18,
        {NPU: 4, SMALL: 2, EDGE: 6, SLICE: 1},
        ("day-ahead", "wind", "solar", "demand"),
    ),
    Group("assistant", ("lead-systems",), 10, {GPU: 1, OLD: 2, SLICE: 6, SMALL: 4}, ("dispatch", "handbook", "alarms")),
)


def wishes(start: datetime, end: datetime, count: int) -> list[Wish]:
    """About `count` wishes every eight weeks in [start, end), in order of time.

    The same ones whenever it ends: a later end adds to them and changes none.
    """
    chance = random.Random(SEED)  # noqa: S311 - a history, no secret
    found: list[Wish] = []
    for moment in _moments(chance, start, start + _HORIZON):
        found.extend(_sweep(chance, moment))
    found.sort(key=lambda wish: wish.at)
    step = max(1.0, len(found) / (count * (_HORIZON / _COUNTED)))
    chosen = [found[int(index * step)] for index in range(int(len(found) / step))]
    return [wish for wish in chosen if wish.at < end]


def _moments(chance: random.Random, start: datetime, end: datetime) -> Iterator[datetime]:
    """Instants at which somebody sits down to submit, to the second."""
    day = start.replace(hour=0, minute=0, second=0, microsecond=0)
    while day < end:
        for _each in range(3 * _WEEKDAYS[day.weekday()]):
            hour = chance.choices(range(24), weights=_HOURS)[0]
            moment = day + timedelta(hours=hour, seconds=chance.randrange(3_600))
            if start <= moment < end:
                yield moment
        day += _DAY


def _sweep(chance: random.Random, moment: datetime) -> Iterator[Wish]:
    """The jobs of one sitting: one, or several of the same kind."""
    group = chance.choices(GROUPS, weights=[g.weight for g in GROUPS])[0]
    fitting = [kind for kind in KINDS if kind.pools.keys() & group.pools.keys()]
    kind = chance.choices(fitting, weights=[k.share for k in fitting])[0]
    pools = [pool for pool in kind.pools if pool in group.pools]
    pool = chance.choices(pools, weights=[group.pools[p] for p in pools])[0]
    person = chance.choice(group.people)
    devices, members = chance.choice(kind.devices), chance.choice(kind.members)
    topic, version = chance.choice(group.topics), chance.randrange(1, 40)
    for index in range(chance.choice(kind.sweep)):
        name = f"{topic}-v{version}" if index == 0 else f"{topic}-v{version}-{index + 1}"
        at = moment + index * 20 * _MINUTE / 60
        yield _wish(chance, kind, (group.slug, person), pool, (devices, members), at, name)


def _wish(
    chance: random.Random, kind: Kind, who: tuple[str, str], pool: str, size: tuple[int, int], at: datetime, name: str
) -> Wish:
    lasts = _span(chance, kind)
    devices, members = size
    fields: dict[str, Any] = {"name": name, "pool": pool, "members": members, "cpu": kind.cpu, "memory": kind.memory}
    if kind.pools[pool] and devices:
        fields |= {"device_class": kind.pools[pool], "devices": min(devices, 4) if pool == SMALL else devices}
    else:
        fields |= {"devices": 0}
    if kind.template == "rehearse-inference" or kind.span == "time_to_live":
        limit = None
    else:
        # People guess their limits; some guess short.
        limit = lasts * chance.choice((1.3, 1.5, 2, 2, 3, 4)) if chance.random() < 0.96 else lasts * 0.6
        fields["time_limit"] = f"{max(10, int(min(limit, _LONGEST_LIMIT) / _MINUTE))}m"
    if chance.random() < 0.04:
        fields["max_wait"] = chance.choice(("30m", "2h", "6h"))
    params: dict[str, Any] = {"ends": chance.choices(list(kind.ends), weights=list(kind.ends.values()))[0]}
    if kind.span:
        params[kind.span] = f"{max(1, int(lasts / _MINUTE))}m"
    cancelled = lasts if not kind.span else lasts * chance.random() if chance.random() < 0.03 else None
    return Wish(at, *who, kind.template, fields, params, cancelled)


def _span(chance: random.Random, kind: Kind) -> timedelta:
    """How long it would last: log-normal around the median, bounded by a tenth and eight times of it."""
    factor = min(8.0, max(0.1, chance.lognormvariate(0, kind.spread)))
    return min(kind.median * factor, _LONGEST)
