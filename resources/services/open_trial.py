"""Note on a node that a validation job has been asked for."""

from datetime import datetime
from typing import Any
from uuid import UUID

from resources.models import Node
from resources.services.restage_nodes import restage_nodes
from resources.standing import ground_of_rows


def open_trial(*, node: Node, job: UUID, ref: str, used: list[list[Any]], now: datetime) -> None:
    """In the transaction that made the job, with the node locked: nobody else starts another meanwhile.

    What is true of the node now is kept: only that can be proved. `used` is what the job asks for.
    """
    node.trial = {
        "job": str(job),
        "ref": ref,
        "opened": now.isoformat(),
        "facts": ground_of_rows(node, node.groups.all()),
        "used": used,
        "failures": node.trial.get("failures", 0),
    }
    node.trial_job = job
    node.save(update_fields=["trial", "trial_job"])
    restage_nodes(nodes=[node.pk], now=now, facts={"job": str(job), "ref": ref})
