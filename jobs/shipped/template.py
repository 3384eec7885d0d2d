"""The shape of a shipped job template, and short ways to write its parameters. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from jobs.params.param import Kind
from jobs.params.schema import read_schema

MIB, GIB = 1 << 20, 1 << 30
MINUTE_MS, HOUR_MS = 60_000, 3_600_000

EndRule = Literal["time_limit", "time_to_live", "reservation"]
Words = dict[str, str]


def words(en: str, zh_hans: str) -> Words:
    """One text in both languages."""
    return {"en": en, "zh-hans": zh_hans}


@dataclass(frozen=True, slots=True)
class Range:
    """What a job gets unless its user says otherwise, and what may be said; inclusive, in base units."""

    default: int
    minimum: int
    maximum: int


NO_DEVICES = Range(0, 0, 0)
ONE_MEMBER = Range(1, 1, 1)


SHIPPED_DRIVER = "local"
"""The kind of cluster that runs the shipped programs."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the program finds in its environment: a runtime of the catalogue is declared for it or is not.

    `driver` is the kind of cluster that can run it.
    """

    python: str = ">=3.11"
    packages: tuple[str, ...] = ("numpy>=2",)
    commands: tuple[str, ...] = ()
    driver: str = SHIPPED_DRIVER


@dataclass(frozen=True, slots=True)
class Template:
    """One version of a template; published as `spec`, so every value is JSON. Amounts are per member.

    `gang`: all members start together or none. `parallel`: members are completions of their own and may start
    one by one. `end_rule` reservation: it serves until stopped, so it has no time limit (R-12).
    """

    slug: str
    version: int
    task_type: str
    title: Words
    description: Words
    program: str
    """A program of this machine; "" where a container runs `command` instead."""
    params: Mapping[str, Any]
    cpu_milli: Range
    memory_bytes: Range
    devices: Range = NO_DEVICES
    members: Range = ONE_MEMBER
    gang: bool = True
    parallel: bool = False
    time_limit_ms: Range | None = None
    grace_ms: int = 10_000
    end_rule: EndRule = "time_limit"
    checkpoints: bool = False
    serves: bool = False
    health_path: str = ""
    runtime: Runtime = field(default_factory=Runtime)
    command: tuple[str, ...] = ()
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Name -> kind of what the program lists in artifacts.json; "*" stands for the member's index."""

    def spec(self) -> dict[str, Any]:
        """The template as the plain dict a published version stores, with its inputs spelled out."""
        return asdict(self) | {"inputs": [asdict(needed) for needed in self.inputs()]}

    def inputs(self) -> "tuple[Input, ...]":
        """The artifacts and data sources among the parameters, in the order of the form."""
        return inputs_of(self.params)


@dataclass(frozen=True, slots=True)
class Input:
    """A parameter that is a file or folder, and the variable that holds its path in the job."""

    param: str
    variable: str
    kind: str
    required: bool


def inputs_of(params: object) -> tuple[Input, ...]:
    """The inputs among the parameters of a schema, in the order of the form."""
    kinds = (Kind.ARTIFACT, Kind.DATASOURCE)
    return tuple(
        Input(param.name, input_variable(param.name), param.artifact_kind or "datasource", param.required)
        for param in read_schema(params).params
        if param.kind in kinds
    )


def input_variable(param: str) -> str:
    """The variable by which a program finds the input of a parameter."""
    return f"PORTAL_INPUT_{param.upper()}"


def schema(*, required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """A parameter schema whose form shows the properties in the order given here."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "x-order": list(properties),
        "properties": properties,
    }


def integer(title: Words, default: int, minimum: int, maximum: int, unit: Words | None = None) -> dict[str, Any]:
    """A whole number."""
    bounds: dict[str, Any] = {"minimum": minimum, "maximum": maximum, "default": default}
    return {"type": "integer", "x-title": title, **bounds, **({"x-unit": unit} if unit else {})}


def number(title: Words, default: float, minimum: float, maximum: float) -> dict[str, Any]:
    """A number."""
    return {"type": "number", "x-title": title, "minimum": minimum, "maximum": maximum, "default": default}


def boolean(title: Words, default: bool) -> dict[str, Any]:
    """Yes or no."""
    return {"type": "boolean", "x-title": title, "default": default}


def choice(title: Words, **labels: Words) -> dict[str, Any]:
    """One of the options; the first is the default. An underscore in a keyword stands for a hyphen."""
    options = {name.replace("_", "-"): label for name, label in labels.items()}
    first = next(iter(options))
    return {"type": "string", "x-title": title, "enum": list(options), "x-labels": options, "default": first}


def duration(title: Words, default: str, minimum: str, maximum: str) -> dict[str, Any]:
    """A time such as "30m"; the program gets milliseconds."""
    bounds = {"x-minimum": minimum, "x-maximum": maximum, "default": default}
    return {"type": "string", "format": "duration", "x-title": title, **bounds}


def artifact(title: Words, kind: str) -> dict[str, Any]:
    """An artifact of a kind; required where the schema says so."""
    return {"type": "string", "format": "artifact", "x-title": title, "x-kind": kind}


def described(prop: dict[str, Any], description: Words) -> dict[str, Any]:
    """The property with a sentence below its field."""
    return prop | {"x-description": description}
