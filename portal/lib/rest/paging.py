"""Pages of a list by cursor: the place after the last row, so that new rows neither repeat nor hide any."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from django.core import signing
from django.db.models import Model, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from portal.lib.rest import inputs

M = TypeVar("M", bound=Model)
PER_PAGE: Final = 50
MOST: Final = 200
LONGEST: Final = 1_000

BAD_CURSOR = _('This is no cursor of this list. Take it from "next" of the page before.')


class PageQuery(inputs.Input):
    """Which part of a list."""

    cursor = inputs.text(LONGEST, help_text='"next" of the page before; without it the list begins.')
    limit = inputs.whole(1, MOST, default=PER_PAGE, help_text="How many rows at most.")


def page(rows: QuerySet[M], order: Sequence[str], given: Mapping[str, Any]) -> tuple[list[M], str | None]:
    """At most `limit` rows after the cursor, and the cursor of the next page (None: there is none).

    `order` names columns that are never null and together unique; "-" stands before all of them or none.
    Raises Invalid for a cursor of another list.
    """
    names = [name.removeprefix("-") for name in order]
    signer = signing.Signer(salt=f"{rows.model._meta.label} {' '.join(order)}")
    rows = rows.order_by(*order)
    if "cursor" in given:
        rows = rows.filter(_beyond(names, _read(signer, given["cursor"]), "lt" if order[0][0] == "-" else "gt"))
    limit = given.get("limit", PER_PAGE)
    found = list(rows[: limit + 1])
    if len(found) <= limit:
        return found, None
    place = [str(getattr(found[limit - 1], name)) for name in names]
    return found[:limit], signer.sign_object(place)


def _read(signer: signing.Signer, cursor: str) -> list[str]:
    try:
        place: list[str] = signer.unsign_object(cursor)
    except signing.BadSignature as error:
        raise Invalid.of(FieldError("cursor", "BadCursor", BAD_CURSOR, {})) from error
    return place


def _beyond(names: Sequence[str], place: Sequence[str], side: str) -> Q:
    """Rows behind the place: the first column further on, or equal and the next one further on, and so on."""
    beyond, equal = Q(pk__in=[]), Q()
    for name, value in zip(names, place, strict=True):
        beyond |= equal & Q(**{f"{name}__{side}": value})
        equal &= Q(**{name: value})
    return beyond
