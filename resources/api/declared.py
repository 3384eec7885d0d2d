"""What people declare: runtimes, facts and equivalences of classes, vendor rows, the rules of pools."""

import uuid
from collections.abc import Sequence
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.selectors.runtime_use import job_seen_by, jobs_kept_from, jobs_seen_by
from jobs.selectors.startable import startable_in
from portal.lib.change_form import Effect
from portal.lib.clock import utc_now
from portal.lib.errors import FieldError, Invalid, NotFound
from portal.lib.rest.paging import PageQuery, page
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from resources.api.bodies import FleetReason
from resources.api.declared_bodies import (
    NewEquivalence,
    NewFact,
    NewRuntime,
    PoolRulesChange,
    RuntimeChange,
    RuntimesQuery,
    VendorRowBody,
)
from resources.api.declared_shown import (
    EquivalencePage,
    EquivalenceShown,
    FactPage,
    FactShown,
    PoolProfileShown,
    PoolRulesShown,
    VendorRowPage,
    VendorRowShown,
)
from resources.api.shapes import RuntimePage, RuntimeShown
from resources.declared_shapes import EquivalenceRow, equivalence_rows
from resources.models import ClassEquivalence, ClassFact, Pool, ResourceClass, Runtime, VendorRow
from resources.pool_effects import rule_effects
from resources.profile import profile_of
from resources.runtime_rules import NO_CLASSES
from resources.selectors.declared import equivalences_of, facts_of
from resources.selectors.fleet import nodes_of_pools, pools_visible_to
from resources.selectors.runtimes import runtimes
from resources.services.change_runtime import change_runtime
from resources.services.declare_equivalence import declare_equivalence
from resources.services.declare_fact import declare_fact
from resources.services.declare_runtime import declare_runtime
from resources.services.remove_vendor_row import remove_vendor_row
from resources.services.retire_runtime import retire_runtime
from resources.services.save_vendor_row import save_vendor_row
from resources.services.set_pool_rules import set_pool_rules
from resources.services.withdraw_equivalence import withdraw_equivalence
from resources.services.withdraw_fact import withdraw_fact
from tenants import access
from tenants.rehearsal import preview_of


class Runtimes(ApiView):
    """Declared runtimes."""

    @endpoint("list_runtimes", "Runtimes", query=RuntimesQuery, gives={200: RuntimePage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """By key."""
        rows = runtimes(driver=given.get("driver", ""), text=given.get("q", ""), retired=given.get("retired", False))
        return answer_page(RuntimePage, rows, ("key",), given)

    @endpoint("declare_runtime", "Declare a runtime", body=NewRuntime, gives={201: RuntimeShown}, refuses=(403,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """A job is given it only where it is declared for what the job asks."""
        given = {"framework": "", "version": "", **given}
        row = declare_runtime(actor=self.actor, note=given.pop("reason"), now=utc_now(), **given)
        return answer(RuntimeShown, row, status=201)


NewRuntimePreview = preview_of(
    Runtimes.post, "preview_new_runtime", "Whether a runtime can be declared", body=NewRuntime, refuses=(403,)
)


class OneRuntime(ApiView):
    """A runtime."""

    @endpoint("read_runtime", "A runtime", gives={200: RuntimeShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """In use or retired."""
        return answer(RuntimeShown, _runtime(key))

    @endpoint("change_runtime", "Change a runtime", body=RuntimeChange, gives={200: RuntimeShown}, refuses=(404, 409))
    def patch(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """All but its key and its kind of cluster."""
        change_runtime(actor=self.actor, runtime=_runtime(key), note=given.pop("reason"), now=utc_now(), **given)
        return answer(RuntimeShown, _runtime(key))


RuntimePreview = preview_of(
    OneRuntime.patch, "preview_runtime", "What a change of a runtime would be", body=RuntimeChange, refuses=(404, 409)
)


class RuntimeRetired(ApiView):
    """The end of a runtime."""

    @endpoint("retire_runtime", "Retire a runtime", body=FleetReason, gives={200: RuntimeShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """No new job is given it; jobs that have it keep it."""
        retire_runtime(actor=self.actor, runtime=_runtime(key), note=given["reason"], now=utc_now())
        return answer(RuntimeShown, _runtime(key))


class ClassFacts(ApiView):
    """Facts declared of a class."""

    @endpoint("list_class_facts", "Declared facts of a class", query=PageQuery, gives={200: FactPage}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Those in force, oldest first."""
        return answer_page(FactPage, facts_of(_class(key)), ("declared_at", "id"), given)

    @endpoint("declare_fact", "Declare a fact", body=NewFact, gives={201: FactShown}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """It ends the one on the same subject."""
        note = given.pop("reason")
        row = declare_fact(actor=self.actor, resource_class=_class(key), note=note, now=utc_now(), **given)
        return answer(FactShown, row, status=201)


FactPreview = preview_of(
    ClassFacts.post, "preview_fact", "What a fact would be declared as", body=NewFact, refuses=(403, 404, 409)
)


class OneFact(ApiView):
    """A fact of a class."""

    @endpoint("withdraw_fact", "Withdraw a fact", query=FleetReason, gives={204: ""}, refuses=(403, 404))
    def delete(self, request: Request, given: dict[str, Any], key: str, fact: uuid.UUID) -> Response:
        """It stays in the audit trail."""
        row = ClassFact.objects.filter(pk=fact, resource_class=_class(key)).first()
        access.require_platform(self.actor, "policy.manage")
        if row is None:
            raise NotFound(f"ClassFact {fact}")
        withdraw_fact(actor=self.actor, fact=row, note=given["reason"], now=utc_now())
        return Response(status=204)


class Equivalences(ApiView):
    """What may stand in for a class, and for what it may stand in."""

    @endpoint(
        "list_equivalences", "Equivalences of a class", query=PageQuery, gives={200: EquivalencePage}, refuses=(404,)
    )
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """In either direction, oldest first; what has run out is not in force."""
        found, following = page(equivalences_of(_class(key)), ("declared_at", "id"), given)
        return answer(EquivalencePage, {"results": _shown(self.actor, found), "next": following})

    @endpoint(
        "declare_equivalence", "Declare an equivalence", body=NewEquivalence, gives={201: EquivalenceShown},
        refuses=(404, 409),
    )  # fmt: skip
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """In this direction only."""
        of, note, by = _class(key), given.pop("reason"), given.pop("by")
        access.require_platform(self.actor, "policy.manage")
        other = ResourceClass.objects.filter(key=by).first()
        if other is None:
            raise Invalid.of(FieldError("by", "ClassNotFound", NO_CLASSES, {"names": by}))
        row = declare_equivalence(
            actor=self.actor, of=of, by=other, note=note, now=utc_now(),
            job_seen=lambda found: job_seen_by(self.actor, found), **given,
        )  # fmt: skip
        return answer(EquivalenceShown, _shown(self.actor, [row])[0], status=201)


EquivalencePreview = preview_of(
    Equivalences.post, "preview_equivalence", "What an equivalence would be declared as", body=NewEquivalence,
    refuses=(403, 404, 409),
)  # fmt: skip


class OneEquivalence(ApiView):
    """An equivalence."""

    @endpoint("withdraw_equivalence", "Withdraw an equivalence", query=FleetReason, gives={204: ""}, refuses=(403, 404))
    def delete(self, request: Request, given: dict[str, Any], key: str, equivalence: uuid.UUID) -> Response:
        """Before its end."""
        row = ClassEquivalence.objects.filter(pk=equivalence, of=_class(key)).first()
        access.require_platform(self.actor, "policy.manage")
        if row is None:
            raise NotFound(f"ClassEquivalence {equivalence}")
        withdraw_equivalence(actor=self.actor, equivalence=row, note=given["reason"], now=utc_now())
        return Response(status=204)


class VendorRows(ApiView):
    """What resource names mean here, laid over what comes with the portal."""

    @endpoint("list_vendor_rows", "Vendor rows", query=PageQuery, gives={200: VendorRowPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """By resource name."""
        return answer_page(VendorRowPage, VendorRow.objects.all(), ("pattern",), given)

    @endpoint("add_vendor_row", "Add a vendor row", body=VendorRowBody, gives={201: VendorRowShown}, refuses=(403,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """In force with the next inventory pass."""
        row = save_vendor_row(actor=self.actor, note=given.pop("reason"), now=utc_now(), **given)
        return answer(VendorRowShown, row, status=201)


VendorRowPreview = preview_of(
    VendorRows.post, "preview_vendor_row", "Whether a vendor row can be used", body=VendorRowBody, refuses=(403,)
)


class OneVendorRow(ApiView):
    """A vendor row."""

    @endpoint(
        "change_vendor_row", "Change a vendor row", body=VendorRowBody, gives={200: VendorRowShown},
        refuses=(404, 409),
    )  # fmt: skip
    def put(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """All of it."""
        note, row = given.pop("reason"), _vendor_row(self.actor, key)
        changed = save_vendor_row(actor=self.actor, row=row, note=note, now=utc_now(), **given)
        return answer(VendorRowShown, changed)

    @endpoint("remove_vendor_row", "Take off a vendor row", query=FleetReason, gives={204: ""}, refuses=(403, 404))
    def delete(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Its names are read as the portal's own rows have them."""
        remove_vendor_row(actor=self.actor, row=_vendor_row(self.actor, key), note=given["reason"], now=utc_now())
        return Response(status=204)


VendorRowChangePreview = preview_of(
    OneVendorRow.put, "preview_vendor_row_change", "What a change of a vendor row would be", body=VendorRowBody,
    refuses=(403, 404, 409),
)  # fmt: skip


class PoolRules(ApiView):
    """The rules of a pool."""

    @endpoint("read_pool_rules", "The rules of a pool", gives={200: PoolRulesShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Which jobs it takes, and how its pods are written."""
        return answer(PoolRulesShown, _pool(self.actor, key))

    @endpoint(
        "set_pool_rules", "Set the rules of a pool", body=PoolRulesChange, gives={200: PoolRulesShown}, refuses=(404,)
    )
    def patch(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Attempts that were admitted keep theirs."""
        pool = _pool(self.actor, key)
        set_pool_rules(actor=self.actor, pool=pool, note=given.pop("reason"), now=utc_now(), **given)
        pool.refresh_from_db()
        return answer(PoolRulesShown, pool)


def _rule_effects(actor: Any, given: dict[str, Any], key: str) -> Sequence[Effect]:
    pool = _pool(actor, key)
    kept = {name: given.get(name, getattr(pool, name)) for name in ("task_types", "runtimes")}
    return rule_effects(pool, given, jobs_kept_from(pool.key, kept["task_types"], kept["runtimes"]))


PoolRulesPreview = preview_of(
    PoolRules.patch, "preview_pool_rules", "What rules of a pool would change", body=PoolRulesChange,
    effects=_rule_effects,
)  # fmt: skip


class PoolProfile(ApiView):
    """What a pool can do."""

    @endpoint("read_pool_profile", "What a pool can do", gives={200: PoolProfileShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Told by what is in it, with the largest job that would start now."""
        pool = _pool(self.actor, key)
        nodes = list(nodes_of_pools([pool]))
        profile = profile_of(nodes)
        able = {one.class_key: one for one in startable_in(pool, nodes, utc_now())}
        classes = []
        for one in profile.classes:
            now = able.get(one.key)
            largest = {"single": now.single, "members": now.members, "each": now.each} if now else {}
            shown = {name: getattr(one, name) for name in one.__slots__}
            classes.append(shown | {f"largest_{name}": largest.get(name) for name in ("single", "members", "each")})
        shown = {name: getattr(profile, name) for name in ("nodes", "kinds", "architectures", "cluster_kinds")}
        return answer(PoolProfileShown, shown | {"classes": classes})


def _runtime(key: str) -> Runtime:
    row = Runtime.objects.prefetch_related("classes").filter(key=key).first()
    if row is None:
        raise NotFound(f"Runtime {key}")
    return row


def _class(key: str) -> ResourceClass:
    row = ResourceClass.objects.filter(key=key).first()
    if row is None:
        raise NotFound(f"ResourceClass {key}")
    return row


def _vendor_row(actor: Any, key: uuid.UUID) -> VendorRow:
    access.require_platform(actor, "policy.manage")
    row = VendorRow.objects.filter(pk=key).first()
    if row is None:
        raise NotFound(f"VendorRow {key}")
    return row


def _pool(actor: Any, key: str) -> Pool:
    pool = pools_visible_to(actor, utc_now()).filter(key=key).first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    return pool


def _shown(actor: Any, rows: Sequence[ClassEquivalence]) -> list[EquivalenceRow]:
    seen = jobs_seen_by(actor, {row.evidence_job for row in rows if row.evidence_job})
    return equivalence_rows(rows, seen, utc_now())
