"""A decision's explanation as plain facts that can be stored, compared and shown."""

import json
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from jobs.scheduler.decision import Expire, Never, Wait

HOLDERS_SHOWN = 5


def facts_of(decision: Wait | Never | Expire) -> dict[str, Any]:
    """The facts of the reason and beside them the verdict, the place in the queue, the estimate and the holders."""
    why = decision.why
    facts: dict[str, Any] = {**why.facts, "verdict": decision.verdict}
    if why.pool:
        facts["pool_key"] = why.pool
    if why.holders:
        facts["holders"] = [
            {"job": h.job, "amount": h.amount, "ends_ms": h.ends_ms} for h in why.holders[:HOLDERS_SHOWN]
        ]
    if isinstance(decision, Wait):
        facts |= {"queue_position": decision.position, "queue_total": decision.total}
        if decision.estimate:
            facts["estimate"] = {
                "earliest_ms": decision.estimate.earliest_ms,
                "latest_ms": decision.estimate.latest_ms,
                "basis": decision.estimate.basis,
            }
    plain: dict[str, Any] = json.loads(json.dumps(facts, cls=DjangoJSONEncoder))
    return plain
