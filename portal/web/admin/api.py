"""Grants and quotas: read by whom they bind, changed with a reason."""

import uuid
from typing import Any, Final

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.scheduler.snapshot import PriorityClass
from portal.lib.clock import utc_now
from portal.lib.errors import FieldError, Invalid
from portal.lib.rest import inputs
from portal.lib.rest.inputs import Given, Input
from portal.lib.rest.outputs import Moment, Shown, page_of
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from portal.web.admin.facts import Tenant, capacity
from portal.web.admin.grants import grant_for_change
from portal.web.admin.quotas import LIMITS, cell_for_change
from resources.models import Pool, ResourceClass
from tenants import access
from tenants.grant_rules import bounds_of
from tenants.models import Project, Team
from tenants.selectors.grants import cells_binding, grants_binding
from tenants.services.change_grant import change_grant
from tenants.services.delete_quota import delete_quota
from tenants.services.end_grant import end_grant
from tenants.services.grant_pool import grant_pool
from tenants.services.set_quota import set_quota

MOST: Final = 2**62
UNKNOWN = _("There is no {kind} {key}.")
ONE_TENANT = _("Give either a team or a project.")


def _nullable(field: Given, *, help_text: str) -> Given:
    """The same field that also takes null: no rule, which is not 0."""
    parse, schema = field.parse, {**field._spectacular_annotation["field"], "nullable": True}  # type: ignore[attr-defined]
    return Given(lambda raw: None if raw is None else parse(raw), schema, help_text=help_text)


def _amount(help_text: str = "") -> Given:
    return _nullable(inputs.whole(0, MOST), help_text=help_text or "Base units; null: no rule.")


class Why(Input):
    """Why something is done."""

    reason = inputs.reason()


class GrantBounds(Why):
    """Period and bounds; what is left out stays, null is no rule."""

    valid_from = inputs.moment()
    valid_to = _nullable(inputs.moment(), help_text="null: without end.")
    class_ceiling = _nullable(inputs.choice([p.value for p in PriorityClass]), help_text="Highest priority class.")
    largest_job_parts = _amount("Device parts, 42,000 a device; null: no rule.")
    longest_limit_ms = _amount("null: no rule.")
    most_at_once = _nullable(inputs.whole(0, 1_000_000), help_text="null: no rule.")


class NewGrant(GrantBounds):
    """A pool for a team and all below it, or for a project."""

    pool = Given(inputs.text(63).parse, {"type": "string", "maxLength": 63}, required=True)
    team = inputs.key(help_text="Either this")
    project = inputs.key(help_text="or this.")


class QuotaBody(Why):
    """A cell of the quota tree; an amount that is left out is no rule."""

    team = inputs.key(help_text="Either this")
    project = inputs.key(help_text="or this.")
    pool = Given(inputs.text(63).parse, {"type": "string", "maxLength": 63}, required=True)
    class_key = Given(inputs.text(63).parse, {"type": "string", "maxLength": 63}, required=True)
    guarantee = _amount()
    nominal = _amount()
    ceiling = _amount()
    overcommit = inputs.flag(help_text="true: guarantees may sum up to more than the pool has, on purpose.")


class RulesQuery(PageQuery):
    """Which grants or cells."""

    pool = inputs.text(63, help_text="Key of the pool.")


class GrantShown(Shown):
    """A grant."""

    id = serializers.UUIDField()
    pool = serializers.CharField(source="pool_key")
    team = serializers.UUIDField(source="team_id", allow_null=True)
    project = serializers.UUIDField(source="project_id", allow_null=True)
    valid_from = Moment()
    valid_to = Moment(allow_null=True)
    class_ceiling = serializers.CharField()
    largest_job_parts = serializers.IntegerField(allow_null=True)
    longest_limit_ms = serializers.IntegerField(allow_null=True)
    most_at_once = serializers.IntegerField(allow_null=True)
    created_at = Moment()


class QuotaShown(Shown):
    """A cell of the quota tree, in base units; null is no rule."""

    id = serializers.UUIDField()
    team = serializers.UUIDField(source="team_id", allow_null=True)
    project = serializers.UUIDField(source="project_id", allow_null=True)
    pool = serializers.CharField(source="pool_key")
    class_key = serializers.CharField()
    resource = serializers.CharField()
    guarantee = serializers.IntegerField(allow_null=True)
    nominal = serializers.IntegerField(allow_null=True)
    ceiling = serializers.IntegerField(allow_null=True)
    updated_at = Moment()


GrantPage = page_of(GrantShown)
QuotaPage = page_of(QuotaShown)


class Grants(ApiView):
    """Grants of pools."""

    @endpoint("list_grants", "Grants that bind what you see", query=RulesQuery, gives={200: GrantPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Past ones too, oldest first."""
        rows = grants_binding(self.actor)
        rows = rows.filter(pool_key=given["pool"]) if given.get("pool") else rows
        return answer_page(GrantPage, rows, ("created_at", "id"), given)

    @endpoint("grant_pool", "Grant a pool", body=NewGrant, gives={201: GrantShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """To a team and all below it, or to a project."""
        now, note = utc_now(), given.pop("reason")
        tenant, pool = _tenant(self.actor, given), _pool(given.pop("pool"))
        given["class_ceiling"] = given.get("class_ceiling") or ""
        bounds = {"valid_from": now} | given
        grant = grant_pool(actor=self.actor, tenant=tenant, pool_key=pool, note=note, now=now, **bounds)
        return answer(GrantShown, grant, status=201)


class OneGrant(ApiView):
    """A grant."""

    @endpoint("change_grant", "Change a grant", body=GrantBounds, gives={200: GrantShown}, refuses=(404,))
    def patch(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Period and bounds; nothing that runs is stopped."""
        grant, note = grant_for_change(self.actor, key), given.pop("reason")
        values = bounds_of(grant) | given
        values["class_ceiling"] = values["class_ceiling"] or ""
        return answer(GrantShown, change_grant(actor=self.actor, grant=grant, now=utc_now(), note=note, **values))


class GrantEnded(ApiView):
    """The end of a grant."""

    @endpoint("end_grant", "End a grant now", body=Why, gives={204: ""}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Nothing new starts by it; what runs goes on."""
        end_grant(actor=self.actor, grant=grant_for_change(self.actor, key), now=utc_now(), note=given["reason"])
        return Response(status=204)


class Quotas(ApiView):
    """Cells of the quota tree."""

    @endpoint("list_quotas", "Quotas that bind what you see", query=RulesQuery, gives={200: QuotaPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """In base units, longest unchanged first."""
        rows = cells_binding(self.actor)
        rows = rows.filter(pool_key=given["pool"]) if given.get("pool") else rows
        return answer_page(QuotaPage, rows, ("updated_at", "id"), given)

    @endpoint("set_quota", "Set a quota", body=QuotaBody, gives={200: QuotaShown}, refuses=(404,))
    def put(self, request: Request, given: dict[str, Any]) -> Response:
        """The cell, made or changed."""
        now = utc_now()
        tenant, pool = _tenant(self.actor, given), _pool(given["pool"])
        found = ResourceClass.objects.filter(key=given["class_key"], retired_at__isnull=True).first()
        if found is None:
            facts = {"kind": "class", "key": given["class_key"]}
            raise Invalid.of(FieldError("class_key", "ClassNotFound", UNKNOWN, facts))
        cell = set_quota(
            actor=self.actor,
            tenant=tenant,
            pool_key=pool,
            class_key=found.key,
            resource=found.resource,
            capacity=capacity(pool, found.key, found.resource, now),
            overcommit=given.get("overcommit", False),
            note=given["reason"],
            now=now,
            **{name: given.get(name) for name in LIMITS},
        )
        return answer(QuotaShown, cell)


class QuotaDeleted(ApiView):
    """The end of a cell."""

    @endpoint("delete_quota", "Delete a quota", body=Why, gives={204: ""}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """No rule is left at this place; those of teams above still hold."""
        delete_quota(actor=self.actor, cell=cell_for_change(self.actor, key), now=utc_now(), note=given["reason"])
        return Response(status=204)


def _tenant(actor: Any, given: dict[str, Any]) -> Tenant:
    """Whose it is. Raises Invalid unless one is given, NotFound or Denied as usual."""
    team, project = given.pop("team", None), given.pop("project", None)
    if (team is None) == (project is None):
        raise Invalid.of(FieldError("team", "OneTenant", ONE_TENANT, {}))
    if team is not None:
        return access.fetch(actor, Team, team, "quota.change")
    return access.fetch(actor, Project, project, "quota.change", related=("team",))


def _pool(key: str) -> str:
    if not Pool.objects.filter(key=key).exists():
        raise Invalid.of(FieldError("pool", "PoolNotFound", UNKNOWN, {"kind": "pool", "key": key}))
    return key
