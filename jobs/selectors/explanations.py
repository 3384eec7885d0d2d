"""A decision's explanation as plain facts that can be stored, compared and shown."""

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from jobs.scheduler.decision import Expire, Never, Wait

_VOLATILE = frozenset(
    {"queue_position", "queue_total", "estimate", "holders", "position", "waiting", "gap", "reserved", "shares"}
)


def facts_of(decision: Wait | Never | Expire) -> dict[str, Any]:
    """The facts of the reason and beside them the verdict, the place in the queue and the estimate."""
    why = decision.why
    facts: dict[str, Any] = {**why.facts, "verdict": decision.verdict}
    if why.pool:
        facts["pool_key"] = why.pool
    if why.shares:
        facts["shares"] = why.shares
    if why.kept_for:
        facts["kept_for"] = why.kept_for
    if isinstance(decision, Wait):
        facts |= {"queue_position": decision.position, "queue_total": decision.total}
        if decision.estimate:
            facts["estimate"] = {
                "earliest_ms": decision.estimate.earliest_ms,
                "latest_ms": decision.estimate.latest_ms,
                "basis": decision.estimate.basis,
            }
        if decision.reserved:
            facts["reserved"] = {"hosts": decision.reserved.hosts, "at_ms": decision.reserved.at_ms}
    plain: dict[str, Any] = json.loads(json.dumps(facts, cls=DjangoJSONEncoder))
    return plain


def material(facts: dict[str, Any]) -> dict[str, Any]:
    """The numbers whose change is worth an event."""
    return {name: value for name, value in facts.items() if name not in _VOLATILE}
