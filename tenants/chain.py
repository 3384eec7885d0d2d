"""The links of the audit chain: what an event says, hashed together with the hash before it."""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from portal.lib.request_context import current
from tenants.access import scope_of
from tenants.models import AuditEvent, Project, Team, User

CHAIN = "tenants.audit"
"""The lock of whoever adds a link."""
GENESIS = "0" * 64


def last_of_chain() -> tuple[int, str]:
    """Number and hash of the newest event; the beginning where there is none."""
    return AuditEvent.objects.order_by("-seq").values_list("seq", "hash").first() or (0, GENESIS)


def next_in_chain(
    last: tuple[int, str],
    *,
    actor: User | None,
    verb: str,
    at: datetime,
    target: Model | None = None,
    result: str = "done",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
    note: str = "",
) -> AuditEvent:
    """The unsaved event that follows `last`."""
    context = current()
    event = AuditEvent(
        seq=last[0] + 1,
        at=at,
        actor_id=actor.pk if actor else None,
        actor_name=str(actor) if actor else "",
        verb=verb,
        result=result,
        before=_plain(before),
        after=_plain(after),
        reason=reason,
        note=note,
        request_id=context.request_id or uuid.uuid4(),
        source_ip=_address(context.source_ip),
        prev_hash=last[1],
        **_target_columns(target),
    )
    event.hash = chain_hash(event)
    return event


def chain_hash(event: AuditEvent) -> str:
    """SHA-256 over the previous hash and every column that says something, as canonical JSON."""
    body = {
        field.attname: getattr(event, field.attname)
        for field in AuditEvent._meta.concrete_fields
        if field.attname not in ("hash",)
    }
    body["at"] = event.at.isoformat()
    text = json.dumps(body, cls=DjangoJSONEncoder, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def _target_columns(target: Model | None) -> dict[str, Any]:
    if target is None:
        return {}
    scope = scope_of(target)
    project = scope if isinstance(scope, Project) else None
    team_id = project.team_id if project else scope.pk if isinstance(scope, Team) else None
    return {
        "target_type": type(target).__name__,
        "target_id": str(target.pk),
        "target_name": str(target)[:300],
        "project_id": project.pk if project else None,
        "team_id": team_id,
    }


def _address(text: str | None) -> str | None:
    """The address as the database will give it back; None for what is none, which is no reason to fail."""
    try:
        address: str = AuditEvent._meta.get_field("source_ip").clean(text, None)
    except ValidationError:
        return None
    return address


def _plain(value: Mapping[str, Any] | None) -> Any:
    """The value as the database will give it back, so that the hash can be computed again."""
    return None if value is None else json.loads(json.dumps(dict(value), cls=DjangoJSONEncoder))
