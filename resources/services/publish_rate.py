"""Publish a dated price and weight of a class."""

from datetime import datetime

from django.db import transaction

from resources.models import RateVersion, ResourceClass
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


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
) -> RateVersion:
    """The published version; it ends the one open before it. Published rows never change otherwise.

    Prices are millionths per unit-hour; None is unrated. Overlap is refused by the database.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    RateVersion.objects.filter(
        class_key=resource_class.key,
        resource=resource_class.resource,
        valid_to__isnull=True,
        valid_from__lt=valid_from,
    ).update(valid_to=valid_from)
    rate = RateVersion.objects.create(
        class_key=resource_class.key,
        resource=resource_class.resource,
        currency=currency,
        price_micro=price_micro,
        weight_micro=weight_micro,
        valid_from=valid_from,
        published_at=now,
        note=note,
    )
    after = {"class": resource_class.key, "price_micro": price_micro, "from": valid_from}
    record_audit(actor=actor, verb="rate.published", target=resource_class, after=after, now=now)
    return rate
