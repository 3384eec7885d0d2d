"""What follows from rules of a pool, in sentences for page and API."""

from collections.abc import Mapping
from typing import Any

from django.db.models import F, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.lib.change_form import Effect
from resources.models import Node, Pool
from tenants.models import QuotaCell


def rule_effects(pool: Pool, given: Mapping[str, Any], kept_from: int) -> list[Effect]:
    """Of the rules that are given; `kept_from` waiting jobs would no longer be taken. Three queries at most."""
    effects = []
    if kept_from:
        text = ngettext(
            "{n} job that waits could no longer run here: it goes to another pool or waits.",
            "{n} jobs that wait could no longer run here: they go to another pool or wait.",
            kept_from,
        )
        effects.append(Effect(text.format(n=kept_from), "warn", live=True))
    if given.get("relaxation") and given["relaxation"] != pool.relaxation:
        effects.append(Effect(_("Pods here no longer run as the portal's own user. Every job page says so."), "warn"))
    if given.get("borrowing", pool.borrowing) != pool.borrowing:
        effects.append(_borrowing(pool, switched_on=given["borrowing"]))
    if given.get("known_driver_only", pool.known_driver_only) != pool.known_driver_only:
        effects += _drivers(pool, refuse=given["known_driver_only"])
    effects.append(Effect(_("Jobs that run stay as they are.")))
    return effects


def _borrowing(pool: Pool, *, switched_on: bool) -> Effect:
    """Of the quota cells here: those whose ceiling is above their nominal quota, or that have none."""
    cells = QuotaCell.objects.filter(pool_key=pool.key)
    above = cells.filter(Q(ceiling__isnull=True) | Q(ceiling__gt=F("nominal")), nominal__isnull=False).count()
    if switched_on:
        text = ngettext(
            "{n} quota here lets its owner hold more than its nominal quota while others leave it idle.",
            "{n} quotas here let their owners hold more than their nominal quota while others leave it idle.",
            above,
        )
        return Effect(text.format(n=above), "warn")
    text = ngettext(
        "{n} quota here is bound to its nominal quota from now on. What is borrowed is not taken back.",
        "{n} quotas here are bound to their nominal quota from now on. What is borrowed is not taken back.",
        above,
    )
    return Effect(text.format(n=above), "warn")


def _drivers(pool: Pool, *, refuse: bool) -> list[Effect]:
    """How many nodes have devices and say nothing of their driver."""
    there = Node.objects.filter(pool=pool, groups__capacity_parts__gt=0, groups__driver_version="")
    count = there.exclude(stage=Node.Stage.RETIRED).distinct().count()
    if not refuse or not count:
        return []
    text = ngettext(
        "{n} node with devices reports no driver: jobs in a runtime that states a range no longer start there.",
        "{n} nodes with devices report no driver: jobs in a runtime that states a range no longer start there.",
        count,
    )
    return [Effect(text.format(n=count), "warn")]
