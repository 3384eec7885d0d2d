"""What an answer shows: shapes that every API uses."""

from collections.abc import Iterable
from datetime import UTC
from decimal import Decimal
from typing import Any

from drf_spectacular.drainage import set_override
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers


class Shown(serializers.Serializer[Any]):
    """The fields of an answer; unlike an `Input` it never reads."""


class Moment(serializers.DateTimeField):
    """A moment in UTC, whatever zone the pages are shown in."""

    def __init__(self, **options: Any) -> None:
        super().__init__(default_timezone=UTC, **options)


class Word(serializers.CharField):
    """One of a fixed set of words, which the documentation lists once under `name`."""

    def __init__(self, name: str, words: Iterable[str], **options: Any) -> None:
        super().__init__(**options)
        schema: dict[str, Any] = {"type": "string", "enum": [str(word) for word in words]}
        set_override(self, "field", schema)
        set_override(self, "field_component_name", name)


class Facts(serializers.DictField):
    """Data behind a sentence, as it is stored: amounts in base units, moments and spans in milliseconds."""


class BigNumber(serializers.CharField):
    """A whole number or exact decimal as text: it may be beyond what a JSON reader keeps exactly."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        set_override(self, "field", {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"})

    def to_representation(self, value: Any) -> str:
        """Every digit and no exponent."""
        return plain(value)


class ProblemField(Shown):
    """What is wrong with one field of the request."""

    field = serializers.CharField()
    reason = serializers.CharField(help_text="A constant in PascalCase.")
    detail = serializers.CharField()
    facts = Facts()


class Problem(Shown):
    """A refusal as RFC 9457 has it, with our reason and the facts behind it."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    reason = serializers.CharField(help_text="A constant in PascalCase, the same on pages and in the audit.")
    detail = serializers.CharField(help_text="The sentence in the language of Accept-Language.")
    facts = Facts()
    fields = ProblemField(many=True)  # type: ignore[assignment]


class PhaseAmounts(Shown):
    """Base units x milliseconds by phase."""

    startup = BigNumber()
    running = BigNumber()
    release_lag = BigNumber()


class Cost(Shown):
    """An exact amount in millionths of a currency."""

    currency = serializers.CharField()
    micro = BigNumber()


class ClassUse(Shown):
    """Use of one class. What nobody has rated is in `unrated` and in no sum of money; `unweighted` likewise."""

    class_key = serializers.CharField()
    resource = serializers.CharField(help_text="device (42,000 parts each), cpu (milli), memory or storage (bytes).")
    phases = PhaseAmounts()
    allocated = BigNumber(help_text="All phases together.")
    weight_micro = BigNumber(source="weight")
    cost = serializers.SerializerMethodField()
    unrated = BigNumber()
    unweighted = BigNumber()

    @extend_schema_field(Cost(many=True))
    def get_cost(self, use: Any) -> list[dict[str, str]]:
        """One amount for each currency, by its name."""
        return [{"currency": name, "micro": plain(micro)} for name, micro in sorted(use.cost.items())]


def plain(number: int | Decimal) -> str:
    """Every digit and no exponent."""
    return f"{number:f}" if isinstance(number, Decimal) else str(number)


def page_of(row: type[Shown]) -> type[Shown]:
    """The envelope of a page of such rows."""
    members = {
        "__doc__": f"A page of {row.__name__} rows.",
        "__module__": row.__module__,
        "results": row(many=True),
        "next": serializers.CharField(allow_null=True, help_text="Cursor of the next page, null on the last."),
    }
    return type(f"{row.__name__}Page", (Shown,), members)
