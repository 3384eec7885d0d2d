"""Publish a dated price and weight of a class."""

import re
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.clock import to_ms
from portal.lib.errors import FieldError, Invalid
from resources.inputs import checked
from resources.models import RateVersion, ResourceClass
from resources.selectors.rates import rate_of, require_start
from tenants import access
from tenants.models import User
from tenants.notify.events import Event
from tenants.notify.recipients import in_roles
from tenants.roles import Role
from tenants.services.announce import announce
from tenants.services.record_audit import record_audit

MOST_MICRO: Final = 10**15
CURRENCY: Final = re.compile(r"points|[A-Z]{3}", re.ASCII)
OUT_OF_BOUNDS = _("Write an amount from 0 to {most}, or nothing where there is no rate.")
BAD_CURRENCY = _('Write "points" or the three letters of a currency, such as CNY.')


@transaction.atomic
def publish_rate(
    *,
    actor: User | None,
    resource_class: ResourceClass,
    price_micro: int | None,
    weight_micro: int | None,
    valid_from: datetime,
    now: datetime,
    currency: str = "points",
    note: str = "",
    correction: bool = False,
) -> RateVersion:
    """The published version; it ends the one in force before it. Published rows never change otherwise.

    Prices are millionths per unit-hour; None is unrated. Raises Invalid for an amount out of bounds, for a start
    before `now` that is not said to be a correction, and where a version begins at that moment or later.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(note=note)
    _require_amounts(price_micro, weight_micro, currency)
    ResourceClass.objects.select_for_update().get(pk=resource_class.pk)
    require_start(resource_class, valid_from, correction=correction or actor is None, now=now)
    ended = rate_of(resource_class, valid_from)
    if ended is not None:
        RateVersion.objects.filter(pk=ended.pk).update(valid_to=valid_from)
    rate = RateVersion.objects.create(
        class_key=resource_class.key,
        resource=resource_class.resource,
        currency=currency,
        price_micro=price_micro,
        weight_micro=weight_micro,
        valid_from=valid_from,
        published_at=now,
        note=said["note"][:300],
    )
    announce(
        event=Event.RATE_PUBLISHED,
        subject=resource_class,
        facts={"class": resource_class.name, "since": to_ms(valid_from), "price": price_micro, "currency": currency},
        recipients=in_roles([Role.LEAD, Role.MANAGER], reach="anywhere", but=actor.pk if actor else None),
        once=str(rate.pk),
        now=now,
    )
    after = {"class": resource_class.key, **_terms(rate), "from": valid_from, "correction": correction}
    before = _terms(ended) if ended else None
    record_audit(
        actor=actor,
        verb="rate.published",
        target=resource_class,
        before=before,
        after=after,
        note=said["note"],
        now=now,
    )
    return rate


def _terms(rate: RateVersion) -> dict[str, Any]:
    return {"price_micro": rate.price_micro, "weight_micro": rate.weight_micro, "currency": rate.currency}


def _require_amounts(price_micro: int | None, weight_micro: int | None, currency: str) -> None:
    errors = [
        FieldError(name, "OutOfBounds", OUT_OF_BOUNDS, {"most": MOST_MICRO // 1_000_000})
        for name, value in (("price_micro", price_micro), ("weight_micro", weight_micro))
        if value is not None and not 0 <= value <= MOST_MICRO
    ]
    if not CURRENCY.fullmatch(currency):
        errors.append(FieldError("currency", "UnknownCurrency", BAD_CURRENCY, {}))
    if errors:
        raise Invalid.of(*errors)
