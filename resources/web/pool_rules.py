"""The rules of a pool: which jobs it takes, and how its pods are written."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.selectors.runtime_use import jobs_kept_from
from portal.lib.change_form import ChangePage, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from resources.declared_inputs import tolerations_of, write_tolerations
from resources.models import Pool
from resources.pool_effects import rule_effects
from resources.selectors.fleet import pools_visible_to
from resources.services.set_pool_rules import set_pool_rules
from resources.web.declared_forms import PoolRulesForm
from tenants import access
from tenants.rehearsal import rehearse

POOLS = gettext_lazy("Pools")
PLAIN = ("task_types", "runtimes", "scheduler_name", "relaxation", "borrowing", "known_driver_only")


@signed_in
def pool_rules(request: HttpRequest, key: str) -> HttpResponse:
    """Set them; the preview says which waiting jobs the pool would no longer take."""
    pool = pools_visible_to(request.user, utc_now()).filter(key=key).first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    access.require(request.user, "pool.change", pool)
    back, name = reverse("pool_detail", args=[key]), localised(pool.name, pool.key)

    def save(values: dict[str, Any], reason: str) -> str:
        given = values | {"tolerations": tolerations_of(values["tolerations"])}
        set_pool_rules(actor=request.user, pool=pool, note=reason, now=utc_now(), **given)  # type: ignore[arg-type]
        return back

    def preview(values: dict[str, Any]) -> Preview:
        rehearse(lambda: save(values, "preview"))
        return Preview(
            effects=rule_effects(pool, values, jobs_kept_from(key, values["task_types"], values["runtimes"]))
        )

    page = ChangePage(
        title=_("Rules of pool {name}").format(name=name),
        back=back,
        crumbs=[(POOLS, reverse("pool_list")), (name, back), (_("Rules"), "")],
        form=PoolRulesForm,
        today=lambda: _today(pool),
        lock=lambda: Pool.objects.select_for_update().get(pk=pool.pk),
        preview=preview,
        save=save,
    )
    return run_change(request, page)


def _today(stored: Pool) -> dict[str, Any]:
    row = Pool.objects.get(pk=stored.pk)
    plain = {name: getattr(row, name) for name in PLAIN}
    return plain | {"tolerations": write_tolerations(row.tolerations)}
