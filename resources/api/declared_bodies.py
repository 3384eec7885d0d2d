"""What the API takes of what people declare: runtimes, facts, equivalences, vendor rows, rules of pools."""

from typing import Any, Final

from portal.lib.rest import inputs
from portal.lib.rest.inputs import Given
from portal.lib.rest.paging import PageQuery
from resources.api.bodies import FleetReason
from resources.declared_inputs import DEVICE_KINDS, EFFECTS, KINDS, MEMORY_UNITS, RELAXATIONS, UNITS
from resources.drivers.registry import FACTORIES
from resources.inputs import READERS
from resources.models import ClassFact
from resources.task_types import TASK_TYPES

_TEXT: Final = {"type": "string"}
_NAMES: Final = {
    "type": "object",
    "properties": {"en": _TEXT, "zh-hans": _TEXT},
    "required": ["en"],
    "additionalProperties": False,
}
_KEYS: Final = {"type": "array", "items": _TEXT, "maxItems": 50}
_TASKS: Final = {"type": "array", "items": _TEXT}
_KINDS: Final = {"type": "array", "items": _TEXT, "minItems": 1}
_TOLERATIONS: Final = {
    "type": "array",
    "maxItems": 20,
    "items": {
        "type": "object",
        "properties": {"key": _TEXT, "value": _TEXT, "effect": {"type": "string", "enum": list(EFFECTS)}},
        "required": ["key", "effect"],
        "additionalProperties": False,
    },
}


def _given(name: str, schema: dict[str, Any], *, required: bool = False, help_text: str = "") -> Given:
    return Given(READERS[name], schema, required=required, help_text=help_text)


def _key() -> Given:
    return _given("key", {"type": "string", "maxLength": 63}, required=True)


def _one_of(options: tuple[str, ...]) -> Given:
    return Given(inputs.choice(options).parse, {"type": "string", "enum": list(options)}, required=True)


def _text(name: str, most: int, **more: Any) -> Given:
    return _given(name, {"type": "string", "maxLength": most}, **more)


class RuntimesQuery(PageQuery):
    """Which runtimes."""

    driver = inputs.text(20, help_text="Kind of cluster.")
    q = inputs.text(200, help_text="Part of the key, name or framework.")
    retired = inputs.flag(help_text="true: the retired ones.")


class RuntimeChange(FleetReason):
    """What to change of a runtime; what is left out stays."""

    name = _given("name", _NAMES)
    image = _text("image", 500, help_text="registry/repository[:tag][@sha256:…]; needed on Kubernetes.")
    framework = _text("framework", 120)
    version = _text("version", 60)
    runtime_class = _text("runtime_class", 253)
    kinds = _given("kinds", _KINDS, help_text=f"Of {', '.join(KINDS)}.")
    classes = _given("classes", _KEYS, help_text="Empty: every class of its kinds.")
    task_types = _given("task_types", _TASKS, help_text="Empty: every type.")
    driver_range = _text("driver_range", 120, help_text='Bounds such as ">=535, <580".')
    maintainer = _text("maintainer", 200)


class NewRuntime(RuntimeChange):
    """A runtime to declare."""

    key = _key()
    driver_kind = _one_of(tuple(sorted(FACTORIES)))
    name = _given("name", _NAMES, required=True)
    kinds = _given("kinds", _KINDS, required=True, help_text=f"Of {', '.join(KINDS)}.")


class NewFact(FleetReason):
    """A fact to declare, with its source and date."""

    topic = _one_of(tuple(ClassFact.Topic.values))
    subject = _text("subject", 120, help_text="Precision of a throughput; framework or operator with its version.")
    amount = _given(
        "amount",
        {"type": "integer", "minimum": 1},
        help_text="Operations per second; devices of an island; NUMA nodes of a host.",
    )
    support = inputs.choice(ClassFact.Support.values, help_text="Of a framework or operator.")
    source = _text("source", 300, required=True)  # type: ignore[assignment]
    as_of = _given("as_of", {"type": "string", "format": "date"}, required=True)


class NewEquivalence(FleetReason):
    """A direction to declare: jobs of the type that ask for the class of the address may be given this one."""

    by = _key()
    task_type = _one_of(TASK_TYPES)
    valid_to = Given(inputs.read_moment, {"type": "string", "format": "date-time"}, required=True)
    evidence = _text("evidence", 1_000)
    evidence_job = _given("evidence_job", {"type": "string", "format": "uuid"}, help_text="A job you may see.")


class VendorRowBody(FleetReason):
    """What a resource name means."""

    pattern = _text("pattern", 253, required=True, help_text="The name; one * may stand for a part of it.")
    vendor = _key()
    vendor_name = _given("title", {"type": "string", "maxLength": 120}, required=True)
    kind = Given(inputs.choice(DEVICE_KINDS).parse, _TEXT, required=True, help_text=f"Of {', '.join(DEVICE_KINDS)}.")
    unit = inputs.choice(UNITS)
    model_label = _text("model_label", 317)
    memory_label = _text("memory_label", 317)
    memory_unit = inputs.choice(tuple(MEMORY_UNITS))
    driver_label = _text("driver_label", 317)


class PoolRulesChange(FleetReason):
    """Rules to set; what is left out stays."""

    task_types = _given("task_types", _TASKS, help_text="Empty: every type.")
    runtimes = _given("runtimes", _KEYS, help_text="Empty: every runtime.")
    scheduler_name = _text("scheduler_name", 253)
    tolerations = _given("tolerations", _TOLERATIONS)
    relaxation = _given("relaxation", {"type": "string", "enum": ["", *RELAXATIONS]})
    borrowing = inputs.flag(help_text="true: what others are entitled to here and do not use may be held.")
    known_driver_only = inputs.flag(
        help_text="true: a node whose driver is not known is refused to runtimes that state a range of drivers."
    )
