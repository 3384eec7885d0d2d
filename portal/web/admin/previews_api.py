"""Previews of grants and quotas: the change's own route with /preview behind it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from portal.lib.change_form import Effect
from portal.lib.clock import utc_now
from portal.web.admin import api
from portal.web.admin.facts import Axis
from portal.web.admin.grants import effects_of_change, effects_of_end, effects_of_grant
from portal.web.admin.quotas import LIMITS, effects_of, effects_of_deletion
from resources.models import ResourceClass
from tenants.grant_rules import bounds_of
from tenants.models import Grant, Project, QuotaCell, Team
from tenants.rehearsal import preview_of


def _granted(_actor: Any, given: dict[str, Any]) -> Sequence[Effect]:
    now = utc_now()
    return effects_of_grant(_tenant(given), given["pool"], {"valid_from": now, "valid_to": None} | given, now)


def _changed(_actor: Any, given: dict[str, Any], key: UUID) -> Sequence[Effect]:
    grant = Grant.objects.select_related("team", "project__team").get(pk=key)
    return effects_of_change(grant, bounds_of(grant) | given, utc_now())


def _ended(_actor: Any, _given: dict[str, Any], key: UUID) -> Sequence[Effect]:
    return effects_of_end(Grant.objects.select_related("team", "project__team").get(pk=key))


def _set(_actor: Any, given: dict[str, Any]) -> Sequence[Effect]:
    row = ResourceClass.objects.get(key=given["class_key"])
    amounts = {name: given.get(name) for name in LIMITS}
    axis = Axis(pool_key=given["pool"], class_key=row.key, resource=row.resource)
    return effects_of(_tenant(given), axis, amounts, utc_now())


def _deleted(_actor: Any, _given: dict[str, Any], key: UUID) -> Sequence[Effect]:
    return effects_of_deletion(QuotaCell.objects.select_related("team", "project__team").get(pk=key), utc_now())


def _tenant(given: dict[str, Any]) -> Team | Project:
    """The one that is named; that it may be changed was checked with the change itself."""
    if given.get("team"):
        return Team.objects.get(pk=given["team"])
    return Project.objects.select_related("team").get(pk=given["project"])


NewGrant = preview_of(api.Grants.post, "preview_grant", "Whom a grant would reach", body=api.NewGrant, effects=_granted)
GrantChange = preview_of(
    api.OneGrant.patch, "preview_grant_change", "What other bounds would mean", body=api.GrantBounds, effects=_changed
)
GrantEnded = preview_of(
    api.GrantEnded.post, "preview_grant_end", "What a grant's end would mean", body=api.Why, refuses=(404, 409),
    effects=_ended,
)  # fmt: skip
QuotaSet = preview_of(
    api.Quotas.put, "preview_quota", "What a quota would mean beside what is used and what there is",
    body=api.QuotaBody, effects=_set,
)  # fmt: skip
QuotaDeleted = preview_of(
    api.QuotaDeleted.post, "preview_quota_deletion", "What would hold without a quota", body=api.Why, effects=_deleted
)
