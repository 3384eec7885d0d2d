"""A preview as the verdict card of the new-job page."""

from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobs.models import Job
from jobs.scheduler.decision import Admit, Expire, Never, Wait
from jobs.selectors.explanations import facts_of
from jobs.selectors.job_card import estimate_text
from jobs.selectors.verdict import Preview
from jobs.sentences import UNIT_OF_RESOURCE, sentence
from jobs.web.forms import NewJobForm
from portal.lib import units
from portal.lib.clock import utc_now
from portal.lib.display import Fact, VerdictCard
from portal.lib.errors import DomainError, FieldError
from portal.lib.localised import listed
from resources.selectors.catalogue import class_looks

CURRENCY = "points"
_BEYOND = frozenset({"TooLarge", "QuantityTooLarge", "DurationTooLong"})
"""Refusals of an amount above its maximum, which their sentence names."""


def card_of_preview(preview: Preview, now: datetime) -> VerdictCard:
    """NOW with where, WAIT with why and when, NEVER with which maximum; always with the price per hour."""
    decision = preview.decision
    facts = _facts(preview)
    price = _price(preview)
    if isinstance(decision, Admit):
        say = _("Starts now in pool {pool} on {nodes}.").format(pool=preview.pool, nodes=listed(preview.nodes))
        return VerdictCard("now", say, aside=price, facts=facts)
    told = facts_of(decision)
    say = sentence(decision.why.reason, told, now)
    if isinstance(decision, Wait):
        when = estimate_text(told, now)
        return VerdictCard("wait", f"{say} {when}".strip(), aside=price, facts=[*_place(decision), *facts])
    assert isinstance(decision, Never | Expire)
    return VerdictCard("never", say)


def card_of_error(error: DomainError, form: NewJobForm) -> VerdictCard:
    """What is refused before any scheduling: what is still to be chosen, a maximum passed, or fields to correct."""
    if error.facts.get("verdict") == "never":
        return VerdictCard("never", sentence(error.reason, error.facts, utc_now()))
    beyond = [field for field in error.fields if field.reason in _BEYOND]
    if beyond:
        message = _("It can never start like this: the template does not allow so much.")
        return VerdictCard("never", message, facts=_said(beyond, form))
    if error.fields and all(form.to_choose(field) for field in error.fields):
        names = listed(form.label(field.field) for field in error.fields)
        return VerdictCard("unknown", _("Choose first: {names}.").format(names=names), facts=_none_yet(error, form))
    return VerdictCard("unknown", error.text(), facts=_said(error.fields, form))


def _said(fields: Iterable[FieldError], form: NewJobForm) -> list[Fact]:
    return [
        Fact(form.label(field.field) or pgettext("what a job asks for", "Request"), field.text()) for field in fields
    ]


def _none_yet(error: DomainError, form: NewJobForm) -> list[Fact]:
    """Inputs of which the project has none at all."""
    names = [form.label(field.field) for field in error.fields if not form.offers(field.field)]
    return [Fact(name, _("the project has none yet")) for name in names]


def _facts(preview: Preview) -> list[Fact]:
    job = preview.job
    pods = job.alternatives[0]["pod_sets"][0]
    looks = class_looks()
    amounts = [
        Fact(looks[key].name, units.amount_text(int(amount) * pods["count"], UNIT_OF_RESOURCE.get(resource, "count")))
        for key, resource, amount in pods["lines"]
    ]
    return [*amounts, *_limit(job, preview)]


def _limit(job: Job, preview: Preview) -> list[Fact]:
    if job.time_limit_ms is None or preview.price_micro_hour is None:
        return []
    most = preview.price_micro_hour * job.time_limit_ms // units.HOUR
    return [Fact(_("At most, until the run limit"), units.money_text(most, CURRENCY))]


def _price(preview: Preview) -> str:
    if preview.price_micro_hour is None:
        return _("unrated")
    return _("{price} per hour").format(price=units.money_text(preview.price_micro_hour, CURRENCY))


def _place(decision: Wait) -> list[Fact]:
    if decision.position is None:
        return []
    text = _("{position} of {total}").format(position=decision.position, total=decision.total)
    return [Fact(_("Position"), text, url=reverse("job_list") + "?state=waiting")]
