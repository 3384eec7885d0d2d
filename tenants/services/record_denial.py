"""Leave a refusal in the audit trail, so that an administrator can review it (R-29)."""

import logging
from datetime import datetime
from typing import Any

from django.db import transaction

from portal.lib.errors import Denied
from tenants.models import Project, Team, User
from tenants.services.record_audit import record_audit

log = logging.getLogger(__name__)
_SCOPES: dict[str, type[Team] | type[Project]] = {"team": Team, "project": Project}


def record_denial(*, actor: User, error: Denied, act: str, now: datetime) -> None:
    """The record of who was refused what, with the permission and the facts; `act` is the method and path.

    Never raises: the refusal is answered whether or not it can be written down.
    """
    try:
        with transaction.atomic():
            record_audit(
                actor=actor,
                verb="access.denied",
                result="denied",
                target=_scope(error.facts),
                after={"act": act[:300], "permission": error.facts.get("permission", ""), "facts": _plain(error.facts)},
                reason=error.reason,
                now=now,
            )
    except Exception:
        log.exception("a denial of %s was not recorded", error.reason)


def _scope(facts: dict[str, Any]) -> Team | Project | None:
    """The team or project the permission was asked on; a pool stays a fact, this app does not know pools."""
    model = _SCOPES.get(str(facts.get("scope_type")))
    return model.objects.filter(pk=facts["scope_id"]).first() if model else None


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    kept = (str, int, bool, type(None))
    return {name: value if isinstance(value, kept) else str(value) for name, value in facts.items()}
