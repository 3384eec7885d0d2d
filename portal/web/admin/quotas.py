"""Set, change and delete cells of the quota tree, with what is used and what all of them sum up to."""

import uuid
from datetime import datetime
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from jobs.sentences import UNIT_OF_RESOURCE
from portal.lib import units
from portal.lib.change_form import ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from portal.lib.text import BadInput
from portal.web.admin import facts
from portal.web.admin.fields import PARSE, Amount
from portal.web.admin.grants import address_of
from resources.selectors.names import name_of
from tenants import access
from tenants.models import QuotaCell, Team, User
from tenants.selectors.quotas import family_with, guarantees_with, nominals_with
from tenants.services.delete_quota import delete_quota
from tenants.services.set_quota import set_quota

GET_POST = ["GET", "POST"]
LIMITS = ("guarantee", "nominal", "ceiling")


class QuotaForm(forms.Form):
    """The three amounts of a cell. `resource` says how they are read."""

    guarantee = Amount(label=gettext_lazy("Guarantee"), required=False, help_text=gettext_lazy("Never lent."))
    nominal = Amount(label=gettext_lazy("Nominal quota"), required=False, help_text=gettext_lazy("Normally theirs."))
    ceiling = Amount(label=gettext_lazy("Ceiling"), required=False, help_text=gettext_lazy("Never passed."))
    overcommit = forms.BooleanField(label=gettext_lazy("Guarantee more than the pool has, on purpose"), required=False)

    def __init__(self, *args: Any, resource: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._learn(resource)

    def clean(self) -> dict[str, Any]:
        """The amounts in base units, None where the field is empty."""
        said = super().clean() or {}
        self._learn(self.resource_of(said))
        for name in LIMITS:
            field = self.fields[name]
            assert isinstance(field, Amount)
            if name in said and field.resource:
                try:
                    said[name] = field.read(said[name])
                except BadInput as bad:
                    self.add_error(name, str(_(bad.template)).format_map(bad.facts))
        return said

    def resource_of(self, _said: dict[str, Any]) -> str:
        """Known from the start, here."""
        field = self.fields["guarantee"]
        assert isinstance(field, Amount)
        return field.resource

    def _learn(self, resource: str) -> None:
        for name in LIMITS:
            field = self.fields[name]
            assert isinstance(field, Amount)
            field.resource = resource if resource in PARSE else ""


class NewQuotaForm(QuotaForm):
    """The same, with pool and class."""

    pool_key = forms.ChoiceField(label=gettext_lazy("Pool"))
    class_axis = forms.ChoiceField(
        label=gettext_lazy("Class"),
        help_text=gettext_lazy("Amounts: cores such as 16 or 0.5, memory such as 64Gi, cards such as 8 or 0.5."),
    )
    field_order = ("pool_key", "class_axis")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, choices in (("pool_key", facts.pool_choices()), ("class_axis", facts.class_choices())):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices

    def resource_of(self, said: dict[str, Any]) -> str:
        """As the chosen class has it."""
        return str(said.get("class_axis", "")).rpartition(":")[2]


@require_http_methods(GET_POST)
@signed_in
def quota_new(request: HttpRequest, kind: str, slug: str) -> HttpResponse:
    """A cell for this team or project."""
    tenant, now = facts.tenant_named(request.user, kind, slug, "quota.change"), utc_now()
    actor = _actor(request)

    def key_of(values: dict[str, Any]) -> facts.Axis:
        class_key, _colon, resource = values["class_axis"].rpartition(":")
        return {"pool_key": values["pool_key"], "class_key": class_key, "resource": resource}

    def preview(values: dict[str, Any]) -> Preview:
        key = key_of(values)
        there = QuotaCell.objects.filter(**_column(tenant), **key).exists()
        blocker = Effect(_("There is a quota for this already; change that one."), "bad", f"{address_of(tenant)}#cells")
        return Preview(effects=effects_of(tenant, key, values, now), blockers=[blocker] if there else [])

    def save(values: dict[str, Any], reason: str) -> str:
        return _save(actor, tenant, key_of(values), values, reason, now)

    page = ChangePage(
        title=_("Set a quota for {tenant}").format(tenant=tenant),
        back=address_of(tenant),
        crumbs=[(tenant.name, address_of(tenant)), (gettext_lazy("Set a quota"), "")],
        form=NewQuotaForm,
        preview=preview,
        save=save,
        verb=gettext_lazy("Set the quota"),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def quota_edit(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Other amounts."""
    cell, now = cell_for_change(request.user, key), utc_now()
    tenant, actor, axis = cell.tenant, _actor(request), axis_of(cell)

    def form(*args: Any, **kwargs: Any) -> forms.Form:
        return QuotaForm(*args, resource=cell.resource, **kwargs)

    page = ChangePage(
        title=_("Change the quota of {class_key} in {pool}").format(**_called(cell)),
        back=address_of(tenant),
        crumbs=[(tenant.name, address_of(tenant)), (gettext_lazy("Change the quota"), "")],
        form=form,
        today=lambda: {**_amounts(cell), "overcommit": False},
        lock=lambda: QuotaCell.objects.select_for_update(of=("self",)).filter(pk=cell.pk).first(),
        preview=lambda values: Preview(effects=effects_of(tenant, axis, values, now)),
        save=lambda values, reason: _save(actor, tenant, axis, values, reason, now),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def quota_delete(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """No rule at this place any more."""
    cell, now = cell_for_change(request.user, key), utc_now()
    tenant, actor = cell.tenant, _actor(request)

    def save(_values: dict[str, Any], reason: str) -> str:
        delete_quota(actor=actor, cell=cell, now=now, note=reason)
        return address_of(tenant)

    page = ChangePage(
        title=_("Delete the quota of {class_key} in {pool}").format(**_called(cell)),
        back=address_of(tenant),
        crumbs=[(tenant.name, address_of(tenant)), (gettext_lazy("Delete the quota"), "")],
        preview=lambda _values: Preview(effects=effects_of_deletion(cell, now)),
        save=save,
        verb=gettext_lazy("Delete the quota"),
        done=gettext_lazy("The quota was deleted."),
        danger=True,
    )
    return run_change(request, page)


def cell_for_change(user: Any, key: uuid.UUID) -> QuotaCell:
    """The cell, for somebody who may change it. Raises NotFound or Denied."""
    cell = QuotaCell.objects.select_related("team", "project__team").filter(pk=key).first()
    if cell is None:
        raise NotFound(f"quota cell {key}")
    access.fetch(user, type(cell.tenant), cell.tenant.pk, "quota.change")
    return cell


def axis_of(cell: QuotaCell) -> facts.Axis:
    """Pool, class and resource."""
    return {"pool_key": cell.pool_key, "class_key": cell.class_key, "resource": cell.resource}


def _called(cell: QuotaCell) -> dict[str, str]:
    """Class and pool as people call them, for a page's title."""
    return {"class_key": name_of("class", cell.class_key), "pool": name_of("pool", cell.pool_key)}


def effects_of(tenant: facts.Tenant, axis: facts.Axis, values: dict[str, Any], now: datetime) -> list[Effect]:
    """What is used now, and what guarantees and nominal quotas would sum up to beside what the pool has."""
    unit = UNIT_OF_RESOURCE.get(axis["resource"], "count")

    def text(amount: int) -> str:
        return units.amount_text(amount, unit)

    there = facts.capacity(**axis, now=now)
    return [
        *_use(tenant, axis, values, text),
        *_family(tenant, axis, values, text),
        *_against_capacity(tenant, axis, values, there, now, text),
    ]


def effects_of_deletion(cell: QuotaCell, now: datetime) -> list[Effect]:
    """No rule is not 0; and what is used now."""
    rule = Effect(_("No rule is left here; quotas of the teams above still hold. No rule is not 0."), "warn")
    return [rule, *effects_of(cell.tenant, axis_of(cell), dict.fromkeys(LIMITS), now)]


def _use(tenant: facts.Tenant, axis: facts.Axis, values: dict[str, Any], text: Any) -> list[Effect]:
    use = facts.use_of(tenant, **axis)
    held = use.used + use.reserved
    said = _("Used now: {used}, promised to jobs that start: {reserved}.")
    found = [Effect(said.format(used=text(use.used), reserved=text(use.reserved)), live=True)]
    for name in ("ceiling", "nominal"):
        limit = values[name]
        if limit is not None and held > limit:
            lower = _(
                "That is {over} more than {limit}: what runs keeps running and nothing is stopped; new jobs wait."
            )
            found.append(Effect(lower.format(over=text(held - limit), limit=text(limit)), "warn", live=True))
            break
    return found


def _family(tenant: facts.Tenant, axis: facts.Axis, values: dict[str, Any], text: Any) -> list[Effect]:
    family = family_with(tenant, guarantee=values["guarantee"], **axis)
    if family is None or family.own is None:
        return []
    team = Team.objects.filter(path=family.path).first()
    said = _("Guarantees directly below {team} sum up to {below} of {own}.")
    tone = "warn" if family.below > family.own else "off"
    return [Effect(said.format(team=team, below=text(family.below), own=text(family.own)), tone)]  # type: ignore[arg-type]


def _against_capacity(
    tenant: facts.Tenant, axis: facts.Axis, values: dict[str, Any], there: int | None, now: datetime, text: Any
) -> list[Effect]:
    against = facts.stands_against(axis, now)
    if against:
        return [Effect(_("No job can use this quota today. {why}").format(why=against), "bad")]
    if there is None:
        return [Effect(_("No node of the pool has any of it now: its amount is not known."), "warn")]
    promised = guarantees_with(tenant, guarantee=values["guarantee"], **axis)
    nominal = nominals_with(tenant, nominal=values["nominal"], **axis)
    all_of = _("All guarantees sum up to {sum}; the pool has {there}.")
    over = _("Over-commit: guarantees sum up to {sum}, the pool has {there}.")
    nominals = _("All nominal quotas sum up to {sum}; the pool has {there}.")
    sums = (over if promised > there else all_of).format(sum=text(promised), there=text(there))
    return [
        Effect(sums, _tone(promised, there)),
        Effect(nominals.format(sum=text(nominal), there=text(there)), _tone(nominal, there)),
    ]


def _tone(total: int, there: int) -> Any:
    return "warn" if total > there else "off"


def _save(
    actor: User, tenant: facts.Tenant, axis: facts.Axis, values: dict[str, Any], reason: str, now: datetime
) -> str:
    amounts = {name: values[name] for name in LIMITS}
    there = facts.capacity(**axis, now=now)
    set_quota(
        actor=actor,
        tenant=tenant,
        **axis,
        **amounts,
        capacity=there,
        overcommit=values["overcommit"],
        note=reason,
        now=now,
    )
    return address_of(tenant)


def _amounts(cell: QuotaCell) -> dict[str, int | None]:
    row = QuotaCell.objects.filter(pk=cell.pk).values(*LIMITS).first()
    return dict(row) if row else {}


def _column(tenant: facts.Tenant) -> dict[str, Any]:
    return {"team": tenant} if isinstance(tenant, Team) else {"project": tenant}


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
