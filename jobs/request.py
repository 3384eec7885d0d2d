"""What a person asks for when they submit: raw values of a form or an API body, checked against a template. Pure."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.params import values
from jobs.params.checks import parse_duration, write_duration
from jobs.params.schema import Schema
from portal.lib.text import BadInput, clean_name, gettext_noop
from resources import quantities

TOO_SHORT = gettext_noop('"{given}" is below the shortest, {minimum}.')
TOO_LONG = gettext_noop('"{given}" is above the longest, {maximum}.')
NO_CLASS = gettext_noop("Choose the class of the devices.")
NO_SUCH_CLASS = gettext_noop("There is no such class of devices, or none you may use.")
NO_SUCH_POOL = gettext_noop("There is no such pool, or none this project may use for it.")
LONGEST_WAIT_MS = 30 * 86_400_000
NAME_LENGTH = 200
_SESSION_MARGIN_MS = 60_000


@dataclass(frozen=True, slots=True)
class JobRequest:
    """Raw values; None or "" leaves one to the template's default."""

    name: object = ""
    params: object = field(default_factory=dict)
    members: object = None
    cpu: object = None
    memory: object = None
    device_class: object = None
    devices: object = None
    time_limit: object = None
    max_wait: object = None
    pool: object = None


@dataclass(frozen=True, slots=True)
class Size:
    """What one member gets, in base units, and how many there are."""

    members: int
    cpu_milli: int
    memory_bytes: int
    device_class: str
    devices: int


@dataclass(frozen=True, slots=True)
class Checked:
    """The typed request; with errors, nothing of it may be used. `errors` pairs a field with its refusal."""

    name: str
    params: Mapping[str, Any]
    size: Size
    time_limit_ms: int | None
    max_wait_ms: int | None
    pool: str
    errors: tuple[tuple[str, BadInput], ...]
    param_errors: tuple[values.FieldError, ...]


def check_request(
    request: JobRequest,
    spec: Mapping[str, Any],
    schema: Schema,
    *,
    offered: Mapping[str, Container[str]],
    device_classes: Container[str],
    pools: Container[str],
) -> Checked:
    """Typed values, the template's defaults filled in, or all refusals at once. Never raises for bad input."""
    errors: list[tuple[str, BadInput]] = []

    def read(name: str, parse: Callable[[Any], Any], raw: object, default: Any) -> Any:
        if raw is None or raw == "":
            return default
        try:
            return parse(raw)
        except BadInput as bad:
            errors.append((name, bad))
            return default

    params = values.validate(schema, request.params, offered=offered)
    size = Size(
        members=read("members", _count(spec["members"]), request.members, spec["members"]["default"]),
        cpu_milli=read("cpu", _cpu(spec["cpu_milli"]), request.cpu, spec["cpu_milli"]["default"]),
        memory_bytes=read("memory", _memory(spec["memory_bytes"]), request.memory, spec["memory_bytes"]["default"]),
        devices=read("devices", _count(spec["devices"]), request.devices, spec["devices"]["default"]),
        device_class=read("device_class", _offered(device_classes, NO_SUCH_CLASS), request.device_class, ""),
    )
    if size.devices and not size.device_class and not any(name == "device_class" for name, _ in errors):
        errors.append(("device_class", BadInput("ClassMissing", NO_CLASS)))
    limit = spec.get("time_limit_ms")
    return Checked(
        name=read("name", lambda raw: clean_name(raw, maximum=NAME_LENGTH), request.name, _title(spec)),
        params=params.values,
        size=size,
        time_limit_ms=_limit(spec, params.values, read("time_limit", _span(limit), request.time_limit, None))
        if limit
        else None,
        max_wait_ms=read("max_wait", _span({"minimum": 0, "maximum": LONGEST_WAIT_MS}), request.max_wait, None),
        pool=read("pool", _offered(pools, NO_SUCH_POOL), request.pool, ""),
        errors=tuple(errors),
        param_errors=params.errors,
    )


def _limit(spec: Mapping[str, Any], params: Mapping[str, Any], given: int | None) -> int:
    """The limit asked for, else the default; a session ends at its time to live, and soon after in any case."""
    live = params.get("time_to_live") if spec["end_rule"] == "time_to_live" else None
    limits = [ms for ms in (given, live + _SESSION_MARGIN_MS if live is not None else None) if ms is not None]
    return int(min(limits, default=spec["time_limit_ms"]["default"]))


def _title(spec: Mapping[str, Any]) -> str:
    return str(spec["title"]["en"])


def _count(bounds: Mapping[str, int]) -> Callable[[Any], int]:
    return lambda raw: quantities.parse_count(raw, minimum=bounds["minimum"], maximum=bounds["maximum"])


def _cpu(bounds: Mapping[str, int]) -> Callable[[Any], int]:
    return lambda raw: quantities.parse_cpu(raw, minimum=bounds["minimum"], maximum=bounds["maximum"])


def _memory(bounds: Mapping[str, int]) -> Callable[[Any], int]:
    return lambda raw: quantities.parse_memory(raw, minimum=bounds["minimum"], maximum=bounds["maximum"])


def _offered(known: Container[str], refusal: str) -> Callable[[Any], str]:
    def parse(raw: Any) -> str:
        if not isinstance(raw, str) or raw not in known:
            raise BadInput("NotOffered", refusal)
        return raw

    return parse


def _span(bounds: Mapping[str, int]) -> Callable[[Any], int]:
    def parse(raw: Any) -> int:
        ms = parse_duration(raw)
        facts = {"given": raw, "minimum": write_duration(bounds["minimum"] or 1000)}
        if ms < bounds["minimum"]:
            raise BadInput("DurationTooShort", TOO_SHORT, facts)
        if ms > bounds["maximum"]:
            raise BadInput("DurationTooLong", TOO_LONG, facts | {"maximum": write_duration(bounds["maximum"])})
        return ms

    return parse
