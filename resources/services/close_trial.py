"""Note on a node how its validation run ended, or that none could be asked for."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from resources.admission import NOT_STARTED, changes_of, next_run
from resources.models import Node
from resources.services.restage_nodes import restage_nodes
from resources.standing import ground_of_rows
from tenants.services.record_audit import record_audit


def close_trial(
    *, node: Node, passed: bool, now: datetime, reason: str = "", facts: Mapping[str, Any] | None = None
) -> None:
    """With the node locked. What changed while the run went on is not proved by it: then it counts for nothing.

    A failure is followed by another run after a pause, a few times; one that could not be asked for is tried again
    soon, and makes no job.
    """
    trial, asked = dict(node.trial), node.trial_job is not None
    said: dict[str, Any] = {name: trial[name] for name in ("job", "ref") if asked and name in trial}
    ground = ground_of_rows(node, node.groups.all())
    changed = changes_of(trial["facts"], ground) if passed else []
    node.trial_job = None
    if passed and not changed:
        node.proof = {"by": "run", "at": now.isoformat(), "facts": ground, "used": trial["used"], **said}
        node.trial, node.quarantine, node.health_since = {}, {}, now
        verb = "node.validated"
    elif passed:
        node.trial = {"failures": trial["failures"]}
        said["changed"] = [list(change) for change in changed]
        verb = "node.validation_void"
    else:
        failures = trial.get("failures", 0) + asked
        due = next_run(failures, now) if asked else now + NOT_STARTED
        node.trial = {
            **said, "reason": reason, "reason_facts": dict(facts or {}), "ended": now.isoformat(),
            "failures": failures, "next": due.isoformat() if due else None,
        }  # fmt: skip
        said["reason"] = reason
        verb = "node.validation_failed"
    node.save(update_fields=["trial", "trial_job", "proof", "quarantine", "health_since"])
    moved = restage_nodes(nodes=[node.pk], now=now, cause="Validated" if verb == "node.validated" else "", facts=said)
    if asked or moved:
        told = {**said, **({"changed": [f"{c.fact}: {c.was} → {c.now}" for c in changed]} if changed else {})}
        record_audit(actor=None, verb=verb, target=node, after=told, reason=reason, now=now)
