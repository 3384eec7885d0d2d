"""What a request gives: fields that read strictly and say what is wrong in the words that forms use too."""

import re
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final

from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from drf_spectacular.drainage import set_override
from rest_framework import serializers

from portal.lib.errors import FieldError, Invalid
from portal.lib.rest.body import printable
from portal.lib.text import BLANK, BadInput, clean_line, clean_note, gettext_noop, visible

Schema = dict[str, Any]
Parse = Callable[[Any], Any]

MISSING = _("This is needed.")
UNKNOWN = _("There is no field {name} here.")
REPEATED = _("This is given more than once.")
EMPTY = gettext_noop("Leave the field out instead of giving null or an empty text.")
NOT_AN_ID = gettext_noop("This is not an id: write 32 hexadecimal digits in five groups.")
NOT_A_CHOICE = gettext_noop("Choose one of: {options}.")
NOT_BOOLEAN = gettext_noop("Write true or false.")
NOT_A_MOMENT = gettext_noop('This is no moment. Write date, time and zone, such as "2026-11-30T08:00:00Z".')
NO_SECRET = gettext_noop("Write a text of 1 to {maximum} characters.")
NOT_WHOLE = gettext_noop("Write a whole number from {minimum} to {maximum}.")

MOST_NAMED: Final = 5
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_MOMENT = re.compile(
    r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,15}", re.ASCII)


class Given(serializers.Field[Any, Any, Any, Any]):
    """A field of a body or query. `parse` makes of the value what the service takes, or raises BadInput.

    `schema` describes the value to readers of the documentation; it checks nothing. `from_text` turns what
    a query has for a number or truth value into that; what it cannot turn, `parse` refuses.
    """

    def __init__(
        self,
        parse: Parse,
        schema: Schema,
        *,
        from_text: Parse = str,
        required: bool = False,
        help_text: str = "",
    ) -> None:
        super().__init__(required=required, help_text=help_text)
        self.parse = parse
        self.from_text = from_text
        set_override(self, "field", schema)


class Input(serializers.Serializer[Any]):
    """The fields of a request. Reading gives every value that was sent, and refuses every other name."""

    @classmethod
    def known(cls) -> dict[str, Given]:
        """The fields by name."""
        return {name: field for name, field in cls().fields.items() if isinstance(field, Given)}

    @classmethod
    def read(cls, given: Any) -> dict[str, Any]:
        """Values by field, only those given. Raises Invalid with all that is wrong."""
        fields = cls.known()
        errors = [_unknown(name) for name in [n for n in given if n not in fields][:MOST_NAMED]]
        values: dict[str, Any] = {}
        for name, field in fields.items():
            if name in given:
                try:
                    values[name] = field.parse(given[name])
                except BadInput as bad:
                    errors.append(FieldError(name, bad.reason, _(bad.template), bad.facts))
            elif field.required:
                errors.append(FieldError(name, "Missing", MISSING, {}))
        if errors:
            raise Invalid.of(*errors)
        return values

    @classmethod
    def read_query(cls, query: QueryDict) -> dict[str, Any]:
        """The same for the parameters of an address, each given at most once."""
        repeated = [name for name, values in query.lists() if len(values) > 1]
        if repeated:
            raise Invalid.of(*(FieldError(printable(n), "Repeated", REPEATED, {}) for n in repeated[:MOST_NAMED]))
        fields = cls.known()
        return cls.read({n: fields[n].from_text(value) if n in fields else value for n, value in query.items()})


class Nothing(Input):
    """No field at all."""


def _unknown(name: str) -> FieldError:
    shown = printable(name)
    return FieldError(shown, "UnknownField", UNKNOWN, {"name": shown})


# --- ready-made fields --------------------------------------------------------------------------------


def text(maximum: int, *, help_text: str = "") -> Given:
    """One line of free text."""
    schema = {"type": "string", "maxLength": maximum}
    return Given(lambda raw: clean_line(raw, maximum=maximum), schema, help_text=help_text)


def reason(*, maximum: int = 1_000) -> Given:
    """Why something is changed: needed, and something that can be read."""

    def parse(value: object) -> str:
        said = clean_note(value, maximum=maximum)
        if not visible(said):
            raise BadInput("Blank", BLANK)
        return said

    schema = {"type": "string", "minLength": 1, "maxLength": maximum}
    help_text = "Why; kept in the audit trail with the old and new values."
    return Given(parse, schema, required=True, help_text=help_text)


def key(*, required: bool = False, help_text: str = "") -> Given:
    """The id of a row."""
    return Given(read_id, {"type": "string", "format": "uuid"}, required=required, help_text=help_text)


def choice(options: Iterable[str], *, help_text: str = "") -> Given:
    """One of the options."""
    known = tuple(options)
    return Given(_one_of(known), {"type": "string", "enum": list(known)}, help_text=help_text)


def flag(*, help_text: str = "") -> Given:
    """true or false."""
    return Given(_read_flag, {"type": "boolean"}, from_text=_flag_of_text, help_text=help_text)


def whole(
    minimum: int, maximum: int, *, default: int | None = None, required: bool = False, help_text: str = ""
) -> Given:
    """A whole number."""
    schema: Schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    if default is not None:
        schema["default"] = default
    parse = _between(minimum, maximum)
    return Given(parse, schema, from_text=_whole_of_text, required=required, help_text=help_text)


def moment(*, help_text: str = "") -> Given:
    """A moment with its zone, of this century."""
    return Given(read_moment, {"type": "string", "format": "date-time"}, help_text=help_text)


def secret(maximum: int, *, help_text: str = "") -> Given:
    """A text that is compared and never stored or shown: any characters, as the person has them."""

    def parse(value: object) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= maximum:
            raise BadInput("NotASecret", NO_SECRET, {"maximum": maximum})
        return value

    schema = {"type": "string", "format": "password", "minLength": 1, "maxLength": maximum}
    return Given(parse, schema, help_text=help_text)


def raw(schema: Schema, *, required: bool = False, help_text: str = "") -> Given:
    """A value the service reads itself. Null and "" are refused: there they would mean the template's default."""
    return Given(_not_empty, schema, required=required, help_text=help_text)


def read_id(value: object) -> uuid.UUID:
    """A UUID in its usual spelling only. Raises BadInput."""
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise BadInput("NotAnId", NOT_AN_ID)
    return uuid.UUID(value)


def read_moment(value: object) -> datetime:
    """An RFC 3339 moment in UTC. Raises BadInput."""
    try:
        if isinstance(value, str) and _MOMENT.fullmatch(value):
            return datetime.fromisoformat(value).astimezone(UTC)
    except ValueError:
        pass
    raise BadInput("NotAMoment", NOT_A_MOMENT)


def _one_of(options: tuple[str, ...]) -> Parse:
    def parse(value: object) -> str:
        if not isinstance(value, str) or value not in options:
            raise BadInput("NotAChoice", NOT_A_CHOICE, {"options": ", ".join(options)})
        return value

    return parse


def _read_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadInput("NotBoolean", NOT_BOOLEAN)
    return value


def _flag_of_text(value: str) -> object:
    return {"true": True, "false": False}.get(value, value)


def _between(minimum: int, maximum: int) -> Parse:
    def parse(value: object) -> int:
        if type(value) is not int or not minimum <= value <= maximum:  # True is an int to isinstance
            raise BadInput("NotWholeNumber", NOT_WHOLE, {"minimum": minimum, "maximum": maximum})
        return value

    return parse


def _whole_of_text(value: str) -> object:
    return int(value) if _WHOLE.fullmatch(value) else value


def _not_empty(value: object) -> object:
    if value is None or value == "":
        raise BadInput("Empty", EMPTY)
    return value
