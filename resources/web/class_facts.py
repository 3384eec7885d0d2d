"""What is declared about a class: facts with their sources, and what may stand in for it."""

import uuid
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from jobs.selectors.runtime_use import job_seen_by
from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from resources.declared_inputs import read_date
from resources.declared_shapes import amount_text
from resources.models import ClassEquivalence, ClassFact, ResourceClass
from resources.services.declare_equivalence import declare_equivalence
from resources.services.declare_fact import declare_fact
from resources.services.withdraw_equivalence import withdraw_equivalence
from resources.services.withdraw_fact import withdraw_fact
from resources.task_types import TASK_WORDS
from resources.web.declared_forms import EquivalenceForm, FactForm
from tenants import access
from tenants.rehearsal import rehearse


@signed_in
def fact_declare(request: HttpRequest, key: str) -> HttpResponse:
    """Declare a fact of a class."""
    row = _class(request, key)

    def declare(values: dict[str, Any], reason: str) -> str:
        declare_fact(
            actor=request.user,  # type: ignore[arg-type]
            resource_class=row,
            note=reason,
            now=utc_now(),
            **{**values, "as_of": read_date(values["as_of"])},
        )
        return reverse("class_detail", args=[key])

    def preview(values: dict[str, Any]) -> Preview:
        rehearse(lambda: declare(values, "preview"))
        old = ClassFact.objects.filter(
            resource_class=row, topic=values["topic"], subject=values["subject"], withdrawn_at__isnull=True
        ).first()
        said = _("It takes the place of {old} ({source}).")
        return Preview(effects=[Effect(said.format(old=amount_text(old), source=old.source))] if old else [])

    page = _page(
        row,
        title=_("Declare a fact of {name}").format(name=localised(row.name, row.key)),
        word=_("Declare a fact"),
        intro=_("Said by people, with a source and a date; the portal has not measured it."),
        form=FactForm,
        preview=preview,
        save=declare,
        lock=lambda: ResourceClass.objects.select_for_update().get(pk=row.pk),
    )
    return run_change(request, page)


@signed_in
def fact_withdraw(request: HttpRequest, key: str, fact: uuid.UUID) -> HttpResponse:
    """Withdraw a fact."""
    row = _class(request, key)
    stored = ClassFact.objects.filter(pk=fact, resource_class=row, withdrawn_at__isnull=True).first()
    if stored is None:
        raise NotFound(f"ClassFact {fact}")

    def save(_values: dict[str, Any], reason: str) -> str:
        withdraw_fact(actor=request.user, fact=stored, note=reason, now=utc_now())  # type: ignore[arg-type]
        return reverse("class_detail", args=[key])

    label = f"{stored.get_topic_display()} {stored.subject}".strip()
    page = _page(
        row,
        title=_("Withdraw a fact of {name}").format(name=localised(row.name, row.key)),
        word=_("Withdraw"),
        today=lambda: ClassFact.objects.values("withdrawn_at").get(pk=stored.pk),
        lock=lambda: ClassFact.objects.select_for_update().get(pk=stored.pk),
        preview=lambda _values: Preview([Change(label, amount_text(stored), _("withdrawn"))]),
        save=save,
        verb=_("Withdraw"),
        danger=True,
    )
    return run_change(request, page)


@signed_in
def equivalence_declare(request: HttpRequest, key: str) -> HttpResponse:
    """Declare what may stand in for a class."""
    row = _class(request, key)

    def declare(values: dict[str, Any], reason: str) -> str:
        job = values["evidence_job"]
        declare_equivalence(
            actor=request.user,  # type: ignore[arg-type]
            of=row,
            by=ResourceClass.objects.get(key=values["by"]),
            task_type=values["task_type"],
            valid_to=values["valid_to"],
            evidence=values["evidence"],
            evidence_job=uuid.UUID(job) if job else None,
            job_seen=lambda found: job_seen_by(request.user, found),
            note=reason,
            now=utc_now(),
        )
        return reverse("class_detail", args=[key])

    def preview(values: dict[str, Any]) -> Preview:
        rehearse(lambda: declare(values, "preview"))
        return Preview(
            effects=[
                Effect(_("The other direction is not declared by it: what does for one need not do for the other.")),
                Effect(_("Nothing places jobs by equivalences yet: it is shown, and will be used once it is.")),
            ]
        )

    page = _page(
        row,
        title=_("What may stand in for {name}").format(name=localised(row.name, row.key)),
        word=_("Declare an equivalence"),
        form=lambda *args, **options: EquivalenceForm(*args, of=row, **options),
        preview=preview,
        save=declare,
        lock=lambda: ResourceClass.objects.select_for_update().get(pk=row.pk),
    )
    return run_change(request, page)


@signed_in
def equivalence_withdraw(request: HttpRequest, key: str, equivalence: uuid.UUID) -> HttpResponse:
    """Withdraw an equivalence before its end."""
    row = _class(request, key)
    rows = ClassEquivalence.objects.select_related("of", "by")
    stored = rows.filter(pk=equivalence, of=row, withdrawn_at__isnull=True).first()
    if stored is None:
        raise NotFound(f"ClassEquivalence {equivalence}")

    def save(_values: dict[str, Any], reason: str) -> str:
        withdraw_equivalence(actor=request.user, equivalence=stored, note=reason, now=utc_now())  # type: ignore[arg-type]
        return reverse("class_detail", args=[key])

    page = _page(
        row,
        title=_("Withdraw an equivalence of {name}").format(name=localised(row.name, row.key)),
        word=_("Withdraw"),
        today=lambda: ClassEquivalence.objects.values("withdrawn_at").get(pk=stored.pk),
        lock=lambda: ClassEquivalence.objects.select_for_update().get(pk=stored.pk),
        preview=lambda _values: Preview([Change(_direction(stored), _ends(stored.valid_to), _("withdrawn"))]),
        save=save,
        verb=_("Withdraw"),
        danger=True,
    )
    return run_change(request, page)


def _class(request: HttpRequest, key: str) -> ResourceClass:
    row = ResourceClass.objects.filter(key=key).first()
    if row is None:
        raise NotFound(f"ResourceClass {key}")
    access.require_platform(request.user, "policy.manage")
    return row


def _page(row: ResourceClass, *, word: str, **options: Any) -> ChangePage:
    back, name = reverse("class_detail", args=[row.key]), localised(row.name, row.key)
    crumbs = [(_("Resource classes"), reverse("class_list")), (name, back), (word, "")]
    return ChangePage(back=back, crumbs=crumbs, **options)


def _direction(row: ClassEquivalence) -> str:
    task = TASK_WORDS.get(row.task_type, row.task_type)
    return f"{localised(row.of.name, row.of.key)} → {localised(row.by.name, row.by.key)} · {task}"


def _ends(moment: datetime) -> str:
    return _("until {end}").format(end=moment.date().isoformat())
