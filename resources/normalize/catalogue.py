"""The catalogue: which names mean which device, as rows. Read from TOML, or from anything that has the same shape."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

MAX_PATTERN = 300
_FILE = Path(__file__).with_name("catalogue.toml")
_ROLES = ("device", "companion", "ignored")
_FACTS = (
    "model", "memory", "count", "driver", "firmware", "runtime", "strategy", "replicas", "partition", "device_id",
    "cores", "profile", "unhealthy", "present",
)  # fmt: skip

Pattern = re.Pattern[str]


class BadCatalogue(ValueError):
    """A row that cannot be used; says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """A maker. `partitions`: slots of one card by mode; `model` and `model_as`: how its model names are written."""

    key: str
    name: str
    kind: str
    main: str
    verified: bool = False
    brands: tuple[str, ...] = ()
    model: Pattern | None = None
    model_as: str = "{m}"
    partitions: Mapping[str, int] = field(default_factory=dict)
    partition_sharing: str = "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRule:
    """What an extended resource is. The file's comments tell the fields."""

    match: Pattern
    role: str = "device"
    vendor: str | None = None
    kind: str | None = None
    sharing: str = "exclusive"
    unit: str = "card"
    companion_unit: str | None = None
    cards: str | int | None = None
    most: int | None = None
    of: Pattern | None = None
    yields: Pattern | None = None
    slot_bytes: int | None = None
    memory_unit_bytes: int | None = None
    counts: int | None = None
    cores: bool = False
    model_case: str | None = None

    @property
    def exclusive(self) -> bool:
        return self.sharing == "exclusive"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRule:
    """A fact of a vendor's cards that labels tell."""

    vendor: str
    fact: str
    keys: tuple[str, ...] = ()
    either: bool = False
    match: Pattern | None = None
    value: Pattern | None = None
    read: str = "value"
    name: str | None = None
    as_: str = "{m}"
    unit: int = 1
    divide: int = 1
    per_node: bool = False
    evidence: bool = True
    underscores: bool = False
    below_name: bool = False
    profile_sharing: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterRule:
    """An annotation that lists each card."""

    vendor: str
    match: Pattern
    resource: str
    main: str | None = None
    sharing: str | None = "hami"
    handshake: str | None = None
    prefixes: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()
    list_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateListRule:
    """A ConfigMap entry that lists devices in one state."""

    vendor: str
    match: Pattern
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotListRule:
    """A ConfigMap entry that names slots; `slot` finds in each name the `card` it is a part of."""

    vendor: str
    match: Pattern
    slot: Pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class DraRule:
    """A driver that publishes ResourceSlices."""

    driver: Pattern
    vendor: str
    kind: str | None = None
    sharing: Mapping[str, str] = field(default_factory=dict)
    parent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DraAttributes:
    """Names under which DRA drivers publish the same facts."""

    model: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()
    health: tuple[str, ...] = ()
    strip: tuple[str, ...] = ()
    ignored: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule:
    """What a model is known to have; a group `gb` in the pattern is its memory as the name says it."""

    match: Pattern
    memory_mib: int | None = None
    cores: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """All rows, in order: the first that matches decides."""

    vendors: Mapping[str, Vendor]
    resources: tuple[ResourceRule, ...]
    labels: tuple[LabelRule, ...] = ()
    registers: tuple[RegisterRule, ...] = ()
    state_lists: tuple[StateListRule, ...] = ()
    slot_lists: tuple[SlotListRule, ...] = ()
    dra: tuple[DraRule, ...] = ()
    models: tuple[ModelRule, ...] = ()
    unrecognised: Pattern = re.compile(r"(?!)")
    columns: tuple[tuple[str, ...], ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dra_attributes: DraAttributes = field(default_factory=DraAttributes)

    def rule_of(self, resource: str) -> tuple[ResourceRule, Mapping[str, str]] | None:
        """The row for a resource name, and the named parts of the name."""
        for rule in self.resources:
            if found := rule.match.fullmatch(resource):
                return rule, {key: text for key, text in found.groupdict().items() if text}
        return None

    def merged(self, over: "Catalogue") -> "Catalogue":
        """This catalogue with the rows of `over` before its own; a vendor of the same key is replaced."""
        return Catalogue(
            vendors={**self.vendors, **over.vendors},
            resources=over.resources + self.resources,
            labels=over.labels + self.labels,
            registers=over.registers + self.registers,
            state_lists=over.state_lists + self.state_lists,
            slot_lists=over.slot_lists + self.slot_lists,
            dra=over.dra + self.dra,
            models=over.models + self.models,
            unrecognised=self.unrecognised,
            columns=self.columns,
            fields=self.fields,
            dra_attributes=self.dra_attributes,
        )


@cache
def load_catalogue() -> Catalogue:
    """The catalogue that comes with the portal."""
    return parse_catalogue(tomllib.loads(_FILE.read_text(encoding="utf-8")))


def parse_catalogue(raw: Mapping[str, Any], *, known: Sequence[str] = ()) -> Catalogue:
    """Rows as dataclasses; `known` are keys of vendors that need no row here. Raises BadCatalogue."""
    vendors = {vendor.key: vendor for vendor in _rows(raw, "vendor", Vendor)}
    forms = raw.get("register_forms", {})
    parsed = Catalogue(
        vendors=vendors,
        resources=_rows(raw, "resource", ResourceRule),
        labels=_rows(raw, "label", LabelRule),
        registers=_rows(raw, "register", RegisterRule),
        state_lists=_rows(raw, "state_list", StateListRule),
        slot_lists=_rows(raw, "slot_list", SlotListRule),
        dra=_rows(raw, "dra", DraRule),
        models=_rows(raw, "model", ModelRule),
        unrecognised=_pattern(raw.get("unrecognised", {}).get("match", "(?!)"), "unrecognised"),
        columns=_frozen(forms.get("columns", [])),
        fields={name: tuple(keys) for name, keys in forms.get("fields", {}).items()},
        dra_attributes=_row(raw.get("dra_attributes", {}), DraAttributes, "dra_attributes"),
    )
    _check(parsed, {*vendors, *known})
    return parsed


Row = TypeVar("Row")


def _rows(raw: Mapping[str, Any], table: str, shape: Callable[..., Row]) -> tuple[Row, ...]:
    return tuple(_row(row, shape, f"{table} {number}") for number, row in enumerate(raw.get(table, []), 1))


def _row(raw: Mapping[str, Any], shape: Callable[..., Row], where: str) -> Row:
    shapes = {entry.name.rstrip("_"): entry for entry in fields(shape)}  # type: ignore[arg-type]
    if unknown := set(raw) - set(shapes):
        raise BadCatalogue(f"{where}: unknown field {sorted(unknown)[0]}")
    for name, entry in shapes.items():
        if name not in raw and entry.default is MISSING and entry.default_factory is MISSING:
            raise BadCatalogue(f"{where}: {name} is missing")
    values = {}
    for key, value in raw.items():
        kind = str(shapes[key].type)
        values[shapes[key].name] = _value(value, kind, f"{where}: {key}")
    return shape(**values)


def _value(value: Any, kind: str, where: str) -> Any:
    if "Pattern" in kind:
        return tuple(_pattern(one, where) for one in value) if isinstance(value, list) else _pattern(value, where)
    return _frozen(value)


def _pattern(text: object, where: str) -> Pattern:
    if not isinstance(text, str) or len(text) > MAX_PATTERN:
        raise BadCatalogue(f"{where}: a pattern has at most {MAX_PATTERN} characters")
    try:
        return re.compile(text)
    except re.error as error:
        raise BadCatalogue(f"{where}: {error}") from error


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, list) else value


def _check(parsed: Catalogue, known: set[str]) -> None:
    for rule in parsed.resources:
        if rule.role not in _ROLES or (rule.role == "device" and rule.vendor is None):
            raise BadCatalogue(f"resource {rule.match.pattern}: a device needs a vendor, a role is one of {_ROLES}")
    for label in parsed.labels:
        if label.fact not in _FACTS or not (label.keys or label.match):
            raise BadCatalogue(f"label of {label.vendor}: needs keys or match, and a fact of {_FACTS}")
    named: list[Any] = [*parsed.resources, *parsed.labels, *parsed.registers, *parsed.state_lists]
    named += [*parsed.slot_lists, *parsed.dra]
    for row in named:
        if row.vendor is not None and row.vendor not in known:
            raise BadCatalogue(f"there is no vendor {row.vendor}")
