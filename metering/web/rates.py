"""Publishing a rate: what changes, from when, and what last month would have cost."""

import re
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from metering.rate_words import effects_of_rate, money
from portal.lib import units
from portal.lib.change_form import Change, ChangePage, CleanText, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from portal.lib.text import BadInput, gettext_noop
from resources.models import RateVersion, ResourceClass
from resources.selectors.rates import rate_of, require_start
from resources.services.publish_rate import publish_rate
from tenants import access

MICRO: Final = 1_000_000
_AMOUNT = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,6})?", re.ASCII)
NOT_AN_AMOUNT = gettext_noop("Write an amount such as 12.5, with at most 6 decimals, or nothing.")


def read_amount(raw: object) -> str:
    """A decimal number as it was written. Raises BadInput."""
    if not isinstance(raw, str) or not _AMOUNT.fullmatch(raw.strip()):
        raise BadInput("NotAnAmount", NOT_AN_AMOUNT)
    return write_micro(micro_of(raw.strip()))


def micro_of(text: str) -> int | None:
    """Millionths; None of an empty text."""
    return int(Decimal(text) * MICRO) if text else None


def write_micro(micro: int | None) -> str:
    """Millionths as a decimal number without idle zeros; "" for None."""
    if micro is None:
        return ""
    text = f"{Decimal(micro) / MICRO:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class RateForm(forms.Form):
    """The terms of a version and when it begins."""

    price = CleanText(
        read_amount,
        label=gettext_lazy("Price per unit and hour"),
        required=False,
        help_text=gettext_lazy("Empty: unrated, which is not 0."),
    )
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"), choices=[("points", gettext_lazy("points")), ("CNY", "CNY")]
    )
    weight = CleanText(
        read_amount,
        label=gettext_lazy("Compute units per unit and hour"),
        required=False,
        help_text=gettext_lazy("What unlike classes are added up by. Empty: unweighted."),
    )
    valid_from = forms.DateTimeField(
        label=gettext_lazy("Valid from"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text=gettext_lazy("In the time of these pages. Empty: from the moment it is published."),
    )
    correction = forms.BooleanField(
        label=gettext_lazy("This corrects the past"),
        required=False,
        help_text=gettext_lazy("Only then may it begin before now."),
    )


@signed_in
def rate_publish(request: HttpRequest, key: str) -> HttpResponse:
    """Publish a dated version of a class's rate."""
    row = ResourceClass.objects.filter(key=key).first()
    if row is None:
        raise NotFound(f"ResourceClass {key}")
    access.require_platform(request.user, "policy.manage")
    back, name = reverse("class_detail", args=[key]), localised(row.name, row.key)

    def save(values: dict[str, Any], reason: str) -> str:
        now = utc_now()
        publish_rate(
            actor=request.user,  # type: ignore[arg-type]
            resource_class=row,
            price_micro=micro_of(values["price"]),
            weight_micro=micro_of(values["weight"]),
            currency=values["currency"],
            valid_from=values["valid_from"] or now,
            correction=values["correction"],
            note=reason,
            now=now,
        )
        return back

    page = ChangePage(
        title=_("Publish a rate of {name}").format(name=name),
        intro=_("Published versions never change: a new one ends the one before it."),
        back=back,
        crumbs=[(_("Resource classes"), reverse("class_list")), (name, back), (_("Publish a rate"), "")],
        form=RateForm,
        today=lambda: _today(row),
        lock=lambda: ResourceClass.objects.select_for_update().get(pk=row.pk),
        preview=lambda values: _preview(row, values),
        save=save,
        verb=_("Publish"),
        done=_("Published."),
    )
    return run_change(request, page)


def _today(row: ResourceClass) -> dict[str, Any]:
    rate = rate_of(row, utc_now())
    if rate is None:
        return {"price": "", "weight": "", "currency": "points", "version": ""}
    return {
        "price": write_micro(rate.price_micro),
        "weight": write_micro(rate.weight_micro),
        "currency": rate.currency,
        "version": str(rate.pk),
    }


def _preview(row: ResourceClass, values: dict[str, Any]) -> Preview:
    now = utc_now()
    start = values["valid_from"] or now
    require_start(row, start, correction=values["correction"], now=now)
    changes = _changes(rate_of(row, start), values)
    if not changes:
        return Preview(changes=[])
    effects = effects_of_rate(row, micro_of(values["price"]), values["currency"], start, now)
    shown = units.time_text(start, timezone.get_current_timezone(), "minute") if values["valid_from"] else _("at once")
    return Preview([*changes, Change(_("Valid from"), "–", shown)], effects)


def _changes(rate: RateVersion | None, values: dict[str, Any]) -> list[Change]:
    """Price and weight that would be others than at that moment."""
    price, weight = micro_of(values["price"]), micro_of(values["weight"])
    old = (rate.price_micro, rate.currency) if rate else (None, values["currency"])
    changes = []
    if old != (price, values["currency"]) and (old[0], price) != (None, None):
        new = money(price, values["currency"])
        changes.append(Change(_("Price per unit and hour"), money(*old), new))
    if (rate.weight_micro if rate else None) != weight:
        before = write_micro(rate.weight_micro) if rate else ""
        unweighted = _("unweighted")
        changes.append(
            Change(_("Compute units per unit and hour"), before or unweighted, values["weight"] or unweighted)
        )
    return changes
