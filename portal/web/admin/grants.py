"""Grant a pool to a team or project, change the grant, end it."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from jobs.reasons import Reason
from jobs.scheduler.snapshot import PriorityClass
from jobs.selectors.cells import jobs_holding
from jobs.sentences import sentence
from portal.lib.change_form import ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from portal.web.admin.facts import Tenant, pool_choices, resources_in, tenant_named
from portal.web.admin.fields import Count, Devices, Duration, Moment
from resources.selectors.names import name_of
from tenants import access
from tenants.grant_rules import bounds_of
from tenants.models import Grant, Project, Team, User
from tenants.services.change_grant import change_grant
from tenants.services.end_grant import end_grant
from tenants.services.grant_pool import grant_pool

GET_POST = ["GET", "POST"]
EMPTY_IS_NO_RULE = gettext_lazy("Empty: no rule. 0: none.")
PRIORITIES = {
    PriorityClass.SYSTEM: gettext_lazy("System"),
    PriorityClass.RESERVED: gettext_lazy("Reserved"),
    PriorityClass.PRODUCTION: gettext_lazy("Production"),
    PriorityClass.STANDARD: gettext_lazy("Standard"),
    PriorityClass.BEST_EFFORT: gettext_lazy("Best effort"),
}


class GrantForm(forms.Form):
    """Period and bounds."""

    valid_from = Moment(label=gettext_lazy("From"))
    valid_to = Moment(label=gettext_lazy("Until"), required=False, help_text=gettext_lazy("Empty: without end."))
    class_ceiling = forms.ChoiceField(
        label=gettext_lazy("Highest priority"),
        required=False,
        choices=[("", gettext_lazy("no rule")), *((key.value, word) for key, word in PRIORITIES.items())],
    )
    largest_job_parts = Devices(
        label=gettext_lazy("Largest job"), required=False, help_text=gettext_lazy("Cards. Empty: no rule.")
    )
    longest_limit_ms = Duration(
        label=gettext_lazy("Longest run limit"), required=False, help_text=gettext_lazy("Such as 8h or 7d.")
    )
    most_at_once = Count(label=gettext_lazy("Most jobs at once"), required=False, help_text=EMPTY_IS_NO_RULE)


class NewGrantForm(GrantForm):
    """The same, with the pool."""

    pool_key = forms.ChoiceField(label=gettext_lazy("Pool"))
    field_order = ("pool_key",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["pool_key"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = pool_choices()


@require_http_methods(GET_POST)
@signed_in
def grant_new(request: HttpRequest, kind: str, slug: str) -> HttpResponse:
    """Let this team (with all below it) or project use a pool."""
    tenant, now = tenant_named(request.user, kind, slug, "quota.change"), utc_now()
    actor = _actor(request)

    def save(values: dict[str, Any], reason: str) -> str:
        grant_pool(actor=actor, tenant=tenant, now=now, note=reason, **values)
        return address_of(tenant)

    def form(data: Any = None, initial: Any = None) -> forms.Form:
        return NewGrantForm(data, initial=initial or {"valid_from": now})

    page = ChangePage(
        title=_("Grant a pool to {tenant}").format(tenant=tenant),
        back=address_of(tenant),
        crumbs=[(tenant.name, address_of(tenant)), (gettext_lazy("Grant a pool"), "")],
        form=form,
        preview=lambda values: Preview(effects=effects_of_grant(tenant, values["pool_key"], values, now)),
        save=save,
        verb=gettext_lazy("Grant the pool"),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def grant_edit(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Another period or other bounds."""
    grant = grant_for_change(request.user, key)
    tenant, actor, now = grant.tenant, _actor(request), utc_now()

    def save(values: dict[str, Any], reason: str) -> str:
        row = _locked(grant)
        for name in ("valid_from", "valid_to"):  # a form knows minutes; what was not touched keeps its seconds
            if values[name] == _minute(getattr(row, name)):
                values[name] = getattr(row, name)
        change_grant(actor=actor, grant=row, now=now, note=reason, **values)
        return address_of(tenant)

    page = ChangePage(
        title=_("Change the grant of {pool} to {tenant}").format(pool=name_of("pool", grant.pool_key), tenant=tenant),
        back=address_of(tenant),
        crumbs=[(tenant.name, address_of(tenant)), (gettext_lazy("Change the grant"), "")],
        form=GrantForm,
        today=lambda: _today(grant),
        lock=lambda: _locked(grant),
        preview=lambda values: Preview(effects=effects_of_change(grant, values, now)),
        save=save,
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def grant_end(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """From now on nothing new starts by it."""
    grant = grant_for_change(request.user, key)
    tenant, actor, now = grant.tenant, _actor(request), utc_now()

    def save(_values: dict[str, Any], reason: str) -> str:
        end_grant(actor=actor, grant=grant, now=now, note=reason)
        return address_of(tenant)

    over = grant.valid_to is not None and grant.valid_to <= now
    page = ChangePage(
        title=_("End the grant of {pool} to {tenant}").format(pool=name_of("pool", grant.pool_key), tenant=tenant),
        back=address_of(tenant),
        crumbs=[(tenant.name, address_of(tenant)), (gettext_lazy("End the grant"), "")],
        preview=lambda _values: Preview(
            effects=effects_of_end(grant), blockers=[Effect(_("It is over already."), "bad")] if over else []
        ),
        save=save,
        verb=gettext_lazy("End the grant"),
        done=gettext_lazy("The grant has ended."),
        danger=True,
    )
    return run_change(request, page)


def effects_of_grant(tenant: Tenant, pool_key: str, values: Mapping[str, Any], now: datetime) -> list[Effect]:
    """Whom it reaches, when it holds, and what of it means nothing in this pool."""
    return [*_reach(tenant), *_period(values, now), *_idle(pool_key, values, now)]


def effects_of_change(grant: Grant, values: Mapping[str, Any], now: datetime) -> list[Effect]:
    """When it would hold, what runs by it, and what of it means nothing in its pool."""
    return [*_period(values, now), *_idle(grant.pool_key, values, now), *_running(grant.tenant, grant.pool_key)]


def effects_of_end(grant: Grant) -> list[Effect]:
    """What becomes of jobs that wait and of those that run."""
    return [
        Effect(
            _("From now on no job starts in {pool} by this grant.").format(pool=name_of("pool", grant.pool_key)), "warn"
        ),
        Effect(_("Jobs that wait look for another pool, or wait for a new grant.")),
        *_running(grant.tenant, grant.pool_key),
    ]


def grant_for_change(user: Any, key: uuid.UUID) -> Grant:
    """The grant, for somebody who may change it. Raises NotFound or Denied."""
    grant = Grant.objects.select_related("team", "project__team").filter(pk=key).first()
    if grant is None:
        raise NotFound(f"grant {key}")
    access.fetch(user, type(grant.tenant), grant.tenant.pk, "quota.change")
    return grant


def address_of(tenant: Tenant) -> str:
    """The page of a team or project."""
    return reverse("project_detail" if isinstance(tenant, Project) else "team_detail", args=[tenant.slug])


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _locked(grant: Grant) -> Grant:
    row = Grant.objects.select_for_update(of=("self",)).select_related("team", "project").filter(pk=grant.pk).first()
    if row is None:
        raise NotFound(f"grant {grant.pk}")
    return row


def _today(grant: Grant) -> dict[str, Any]:
    row = Grant.objects.filter(pk=grant.pk).first()
    found = bounds_of(row) if row else {}
    return {name: _minute(value) if isinstance(value, datetime) else value for name, value in found.items()}


def _minute(moment: datetime | None) -> datetime | None:
    return moment.replace(second=0, microsecond=0) if moment else None


def _reach(tenant: Tenant) -> list[Effect]:
    if isinstance(tenant, Project):
        return [Effect(_("Jobs of this project may use the pool; a nearer grant counts before one from above."))]
    below = Project.objects.filter(team__path__startswith=tenant.path, archived_at__isnull=True).count()
    text = ngettext(
        "{n} project below may use the pool, unless it has a grant of its own.",
        "{n} projects below may use the pool, unless they have a grant of their own.",
        below,
    )
    return [Effect(text.format(n=below))]


def _period(values: Mapping[str, Any], now: datetime) -> list[Effect]:
    effects = []
    if values["valid_from"] and values["valid_from"] > now:
        effects.append(Effect(_("It has not begun: until then no job starts by it."), "warn"))
    if values["valid_to"] and values["valid_to"] <= now:
        effects.append(Effect(_("It would be over already: no new job starts by it."), "warn"))
    if values["valid_to"] is None:
        effects.append(Effect(_("It holds without end, until somebody ends it.")))
    return effects


def _idle(pool_key: str, values: Mapping[str, Any], now: datetime) -> list[Effect]:
    """A pool that does not exist or has no node; a bound on cards where there are none."""
    found = resources_in(pool_key, now)
    if found is None:
        return [Effect(sentence(Reason.POOL_NOT_FOUND, {"pool": pool_key}, now), "bad")]
    if not found:
        return [Effect(_("No node is in this pool: no job can start by the grant today."), "warn")]
    if values.get("largest_job_parts") is not None and "device" not in found:
        return [Effect(_("This pool has no cards: a largest job in cards bounds nothing here."), "warn")]
    return []


def _running(tenant: Team | Project, pool_key: str) -> list[Effect]:
    count = jobs_holding(tenant, pool_key)
    text = ngettext(
        "{n} job runs in the pool now: it goes on, nothing is stopped.",
        "{n} jobs run in the pool now: they go on, nothing is stopped.",
        count,
    )
    return [Effect(text.format(n=count), live=True)]
