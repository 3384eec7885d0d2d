"""Workers that are born quickly and die where a test says: `python -m tests.integration.kill.nursery`.

Reads one order a line (JSON) from stdin: {"act": …, "armed": "name=kill" or "", "job": …, "key": …}. Each is carried
out by a child of its own, forked from a parent that has loaded the portal and holds no connection. Answers one line:
{"signal": 9 or 0, "code": …, "result": …, "said": the child's log}.
"""

import json
import logging
import os
import sys
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import django

PATIENCE_SECONDS = 40.0
SMALL = {"operation": "matrix-multiply", "matrix_size": 32, "size_mib": 1}


def main() -> None:
    """Serve orders until stdin ends."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from jobs import tasks  # noqa: F401 - loads what the children will use

    for line in sys.stdin:
        sys.stdout.write(json.dumps(_carry_out(json.loads(line))) + "\n")
        sys.stdout.flush()


def _carry_out(order: dict[str, str]) -> dict[str, Any]:
    read, write = os.pipe()
    said = Path(os.environ["PORTAL_STATE_DIR"]) / f"said-{uuid.uuid4().hex}"
    child = os.fork()
    if child == 0:
        os.close(read)
        _live(order, write, said)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pipe.read()
    _, status = os.waitpid(child, 0)
    return {
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "result": json.loads(result) if result else None,
        "said": said.read_text(encoding="utf-8") if said.exists() else "",
    }


def _live(order: dict[str, str], write: int, said: Path) -> None:
    """The child: arm the point, act, answer, end."""
    logging.basicConfig(filename=said, level=logging.INFO, force=True)
    if order["armed"]:
        os.environ["PORTAL_FAILPOINTS"] = order["armed"]
    code = 0
    try:
        result = ACTS[order["act"]](order)
        os.write(write, json.dumps(result).encode())
    except BaseException:
        logging.exception("the worker ended")
        code = 1
    logging.shutdown()
    os._exit(code)


# --- what a worker does


def submit(order: dict[str, str]) -> str:
    """The key of the job of `key`, new or known."""
    from jobs.models import TemplateVersion
    from jobs.request import JobRequest
    from jobs.services.submit_job import submit_job
    from portal.lib.clock import utc_now
    from tenants.models import Project, User

    params = SMALL | {"duration": order.get("duration", "1s")}
    job = submit_job(
        actor=User.objects.get(username="researcher"),
        project=Project.objects.get(slug="inspection"),
        version=TemplateVersion.objects.filter(template__slug="run-operation").latest("number"),
        request=JobRequest(params=params, members="2", cpu="100m", memory="256Mi", time_limit="5m"),
        now=utc_now(),
        idempotency_key=order["key"],
    )
    return str(job.pk)


def settle(order: dict[str, str]) -> list[str]:
    """Tick until the job is closed; its state and reason."""
    from jobs.models import Attempt

    job = order["job"]
    _tick_until(
        lambda: _job(job).archived_at is not None and not Attempt.objects.filter(job=job, closed=False).exists()
    )
    return [_job(job).state, _job(job).reason]


def run(order: dict[str, str]) -> str:
    """Tick until every member of the job runs."""
    _tick_until(lambda: _job(order["job"]).state == "RUNNING")
    return "RUNNING"


def lose_launcher(order: dict[str, str]) -> str:
    """Tick until a launcher of the job has died, or could not be seen to start."""
    from resources.drivers.base import Phase

    def lost() -> bool:
        seen = [m for w in _driver().observe().workloads for m in w.members]
        return any(member.phase is Phase.UNKNOWN for member in seen) or _said("were not claimed")

    _tick_until(lost, tick_first=True)
    return "lost"


def cancel(order: dict[str, str]) -> str:
    """Ask for the end of a job that runs, as its user."""
    from jobs.services.cancel_job import cancel_job
    from portal.lib.clock import utc_now

    job = _job(order["job"])
    cancel_job(actor=job.submitter, job=job, now=utc_now())
    return "STOPPING"


def settle_late(order: dict[str, str]) -> list[str]:
    """The same as `settle`, a day later: the run limit has passed and nobody has seen to it."""
    _tick(late=True)
    return settle(order)


def ask_validation(order: dict[str, str]) -> str:
    """From now on the node of this machine must pass a validation job: its stage."""
    from jobs.models import TemplateVersion
    from portal.lib.clock import utc_now
    from resources.models import Node, Pool
    from resources.services.restage_nodes import restage_nodes
    from tenants.models import Project, User

    version = TemplateVersion.objects.filter(template__slug="run-operation").latest("number")
    for name, default in (("duration", "1s"), ("matrix_size", 32)):
        version.spec["params"]["properties"][name]["default"] = default
    TemplateVersion.objects.filter(pk=version.pk).update(spec=version.spec)
    Pool.objects.update(
        admission="validate",
        validation_template="run-operation",
        validation_project=Project.objects.get(slug="inspection"),
        validation_by=User.objects.get(username="researcher"),
    )
    Node.objects.update(proof={}, trial={}, trial_job=None)
    restage_nodes(nodes=[Node.objects.get().pk], now=utc_now())
    return Node.objects.get().stage


def validate(order: dict[str, str]) -> str:
    """Tick until the node is in service again: the job that proves it."""
    from jobs.selectors.validation import nodes_to_visit
    from jobs.services.validate_node import validate_node
    from portal.lib.clock import utc_now
    from resources.models import Node

    def in_service() -> bool:
        for key in nodes_to_visit(utc_now()):
            validate_node(node=Node.objects.get(pk=key), now=utc_now())
        return Node.objects.get().stage == "schedulable"

    _tick_until(in_service, tick_first=True)
    return str(Node.objects.get().proof["job"])


ACTS: dict[str, Callable[[dict[str, str]], Any]] = {
    act.__name__: act for act in (submit, settle, run, lose_launcher, cancel, settle_late, ask_validation, validate)
}


def _tick_until(condition: Callable[[], bool], *, tick_first: bool = False) -> None:
    if tick_first:
        _tick()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the portal did not get there")
        _tick()
        time.sleep(0.05)


def _tick(*, late: bool = False) -> None:
    """One pass of each clock."""
    from jobs.services.reconcile_cluster import reconcile_cluster
    from jobs.services.run_cycle import run_cycle
    from portal.lib.clock import utc_now
    from resources.models import Cluster

    now = utc_now()
    cluster = Cluster.objects.get(key="local")
    Cluster.objects.filter(pk=cluster.pk).update(last_seen_at=now)
    run_cycle(now=now)
    reconcile_cluster(cluster=cluster, now=now + timedelta(days=1) if late else now)


def _job(key: str) -> Any:
    from jobs.models import Job

    return Job.objects.select_related("submitter").get(pk=key)


def _driver() -> Any:
    from resources.models import Cluster
    from resources.selectors.drivers import driver_for

    return driver_for(Cluster.objects.get(key="local"))


def _said(text: str) -> bool:
    for handler in logging.getLogger().handlers:
        handler.flush()
        if isinstance(handler, logging.FileHandler) and text in Path(handler.baseFilename).read_text(encoding="utf-8"):
            return True
    return False


if __name__ == "__main__":
    main()
