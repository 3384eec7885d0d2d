"""Refusals of the pure rooms in the portal's own error family, translated when they are read."""

from collections.abc import Iterable

from django.utils.translation import gettext_lazy

from jobs.params import values
from jobs.params.schema import BadSchema
from portal.lib.errors import FieldError, Invalid
from portal.lib.text import BadInput


def of_values(errors: Iterable[values.FieldError]) -> tuple[FieldError, ...]:
    """Errors of `values.validate`, for a form or `Invalid`."""
    return tuple(FieldError(e.field, e.reason, gettext_lazy(e.template), e.facts) for e in errors)


def of_input(field: str, bad: BadInput) -> FieldError:
    """One refused text, name or quantity, beside its field."""
    return FieldError(field, bad.reason, gettext_lazy(bad.template), bad.facts)


def of_schema(bad: BadSchema) -> Invalid:
    """A refused schema, each problem under its path."""
    return Invalid.of(*(FieldError(p.path, p.reason, gettext_lazy(p.template), p.facts) for p in bad.problems))
