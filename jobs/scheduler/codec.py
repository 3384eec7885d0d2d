"""Canonical bytes of the scheduler's rows: equal rows give equal bytes, and the bytes give the rows back."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_json(value: object) -> bytes:
    """UTF-8 JSON, keys sorted, no spaces; tuples become lists, dataclasses objects, enums their values."""
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def from_json(kind: type[T], data: bytes) -> T:
    """The `kind` that `to_json` wrote. Raises ValueError when the bytes are not one."""
    try:
        return cast(T, _restore(kind, json.loads(data)))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a {kind.__name__}: {error!r}") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in _field_names(value.__class__)}
    raise TypeError(f"{type(value).__name__} has no canonical form")  # a float or a set: not exact, not ordered


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _restore(hint: Any, data: Any) -> Any:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return None if data is None else _restore(_without_none(hint), data)
    if origin is tuple:
        return _restore_tuple(get_args(hint), data)
    if origin is dict:
        return {key: _frozen(item) for key, item in data.items()}
    if is_dataclass(hint):
        return _restore_dataclass(hint, data)
    if issubclass(hint, tuple):
        return hint(*(_restore(part, item) for part, item in zip(_hints(hint).values(), data, strict=True)))
    if issubclass(hint, Enum):
        return hint(data)
    if type(data) is not hint:
        raise TypeError(f"{data!r} is not {hint.__name__}")
    return data


def _restore_dataclass(kind: Any, data: Any) -> Any:
    hints = _hints(kind)
    return kind(**{key: _restore(hints[key], item) for key, item in data.items()})


def _without_none(hint: Any) -> Any:
    return next(part for part in get_args(hint) if part is not NoneType)


def _restore_tuple(parts: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_restore(parts[0], item) for item in data)
    return tuple(_restore(part, item) for part, item in zip(parts, data, strict=True))


def _frozen(data: Any) -> Any:
    """A fact as it was before it became JSON: lists were tuples."""
    return tuple(_frozen(item) for item in data) if isinstance(data, list) else data
