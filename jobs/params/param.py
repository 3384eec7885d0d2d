"""The shape of one template parameter, as the rest of the package passes it around. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

LANGUAGES = ("en", "zh-hans")


class Kind(StrEnum):
    """What a parameter holds; decided by the schema's `type`, `enum` and `format`."""

    TEXT = "text"
    CHOICE = "choice"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    TEXTS = "texts"
    ARTIFACT = "artifact"
    DATASOURCE = "datasource"
    DURATION = "duration"
    QUANTITY = "quantity"


ARTIFACT_KINDS = ("dataset", "checkpoint", "model", "result")
QUANTITY_RESOURCES = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter. Bounds are inclusive and typed: ms for a duration, milli-CPU or bytes for a quantity.

    `default` is as a user would give it (a duration is "30m"); None is no default, as null is never a value.
    """

    name: str
    kind: Kind
    required: bool = False
    default: Any = None
    title: Mapping[str, str] = field(default_factory=dict)
    description: Mapping[str, str] = field(default_factory=dict)
    unit: Mapping[str, str] = field(default_factory=dict)
    minimum: int | float | None = None
    maximum: int | float | None = None
    min_length: int = 0
    max_length: int = 0
    pattern: str = ""
    multiline: bool = False
    options: tuple[str, ...] = ()
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    min_items: int = 0
    max_items: int = 0
    unique: bool = False
    artifact_kind: str = ""
    resource: str = ""

    def label(self, language: str) -> str:
        """The title in a language, else in English, else the name."""
        return in_language(self.title, language) or self.name

    def option_label(self, option: str, language: str) -> str:
        """The words for one option of a choice, else the option itself."""
        return in_language(self.labels.get(option, {}), language) or option


def in_language(words: Mapping[str, str], language: str) -> str:
    """The words in a language, else in English, else ""."""
    return words.get(language) or words.get("en", "")
