"""What a rate would mean for use that is entered, said alike on the page and in the API."""

from datetime import datetime
from decimal import Decimal

from django.utils import timezone
from django.utils.translation import gettext as _

from metering.selectors.rate_effect import RateEffect, effect_of_price
from metering.selectors.windows import Window, window_of
from portal.lib import units
from portal.lib.change_form import Effect
from portal.lib.localised import listed
from resources.models import ResourceClass
from resources.shapes import UNIT_OF


def effects_of_rate(
    row: ResourceClass, price_micro: int | None, currency: str, start: datetime, now: datetime
) -> list[Effect]:
    """What last month would have cost at this price, and what a start in the past means."""
    found = [_on_last_month(row, price_micro, currency, now)]
    if start < now:
        said = _("Usage that is entered keeps its rate; only what is entered from now on gets this one.")
        found.append(Effect(said, "warn"))
    return found


def money(micro: int | Decimal | None, currency: str) -> str:
    """An amount with its currency; nobody's rate is a word, not 0."""
    return _("unrated") if micro is None else units.money_text(micro, currency)


def _on_last_month(row: ResourceClass, price_micro: int | None, currency: str, now: datetime) -> Effect:
    window = window_of("last-month", now, timezone.get_current_timezone())
    effect = effect_of_price(row, price_micro, window)
    if not effect.allocated:
        text = _("Of {first} to {last} no use of it is entered: there is nothing to compare.")
        return Effect(text.format(first=window.first, last=window.last), live=True)
    return Effect(_compared(row, effect, window, currency), live=True)


def _compared(row: ResourceClass, effect: RateEffect, window: Window, currency: str) -> str:
    unit = UNIT_OF[row.resource]
    entered = [money(cost, name) for name, cost in sorted(effect.cost.items())]
    if effect.unrated:
        hours = f"{units.hours(effect.unrated, unit)} {units.hours_word(unit)}"
        entered.append(_("{hours} unrated").format(hours=hours))
    text = _("{first} to {last}: {hours} were entered as {old}; at this rate they would be {new}.")
    return text.format(
        first=window.first,
        last=window.last,
        hours=f"{units.hours(effect.allocated, unit)} {units.hours_word(unit)}",
        old=listed(entered),
        new=money(effect.then, currency),
    )
