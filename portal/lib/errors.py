"""The one error family: reason for machines, message for people, facts as data, detail for the log.

Web, API and audit show the same object (architecture rule 10).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field; `message` may hold {named} placeholders filled from `facts`."""

    field: str
    reason: str
    message: str | Promise
    facts: Mapping[str, Any]

    def text(self) -> str:
        """The sentence in the active language."""
        return fill(self.message, self.facts)


class DomainError(Exception):
    """A refusal with a stable reason. `status` is the HTTP status the faces answer with."""

    status = 400

    def __init__(
        self,
        reason: str,
        message: str | Promise,
        *,
        facts: Mapping[str, Any] | None = None,
        fields: tuple[FieldError, ...] = (),
        detail: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.message = message
        self.facts: dict[str, Any] = dict(facts or {})
        self.fields = fields
        self.detail = detail

    def text(self) -> str:
        """The sentence in the active language, its placeholders filled from the facts."""
        return fill(self.message, self.facts)

    def __str__(self) -> str:
        return f"{self.reason}: {self.text()}"


class Invalid(DomainError):
    """The input breaks a rule; nothing was stored."""

    status = 422

    @classmethod
    def of(cls, *fields: FieldError) -> "Invalid":
        """One refusal for several fields."""
        return cls("InvalidInput", _("Some fields need a correction."), fields=fields)


class Denied(DomainError):
    """The object may be seen, the act is not allowed. Facts name the rule and who can change it."""

    status = 403


class NotFound(DomainError):
    """No such object, or none this user may know of: the two are not told apart."""

    status = 404

    def __init__(self, detail: str = "") -> None:
        super().__init__(
            "NotFound",
            _("There is nothing here, or it is not visible to you."),
            detail=detail,
        )


class Conflict(DomainError):
    """The facts have changed meanwhile; nothing was done."""

    status = 409


class TooMany(DomainError):
    """A limit in time was met; `facts["retry_after"]` is in seconds."""

    status = 429


class Unavailable(DomainError):
    """A part the request needs does not answer."""

    status = 503


class _Blank(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "–"


def fill(message: str | Promise, facts: Mapping[str, Any]) -> str:
    """The message with its {named} placeholders filled; an absent fact shows as a dash, never raises."""
    try:
        return str(message).format_map(_Blank(facts))
    except (ValueError, IndexError, AttributeError):
        return str(message)
