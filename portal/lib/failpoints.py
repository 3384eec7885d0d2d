"""Named points in our code where a test may kill, delay or fail the process.

A point does nothing unless `PORTAL_FAILPOINTS` names it: `name=kill`, `name=sleep:MS`, `name=raise`, several
separated by commas. Every name is registered in `FAILPOINTS`, so that a test can visit each of them.
Standard library only: the detached launcher of the local driver loads this file by path when it is armed.
"""

import os
import signal
import time
from collections.abc import Mapping

ENVIRONMENT = "PORTAL_FAILPOINTS"

FAILPOINTS: Mapping[str, str] = {
    "jobs.submit.before_audit": "in the transaction: the job is saved, its audit event is not",
    "jobs.transition.after_update": "in the transaction: the state has changed, its event is not written",
    "jobs.cycle.before_admit": "a decision is made, nothing of it is applied",
    "jobs.admit.before_transition": "in the transaction: quota and devices are taken, the state is not changed",
    "jobs.cycle.after_admit": "one decision is committed, later ones are not",
    "jobs.preempt.between_victims": "in the transaction: one job is told to stop, others are not",
    "jobs.cycle.after_preempt": "jobs are told to stop, the waiting ones are not told why they wait",
    "jobs.reconcile.after_claim": "the job is claimed, nothing was asked of the cluster",
    "jobs.reconcile.after_apply": "the cluster has the workload, nothing was noted since the claim",
    "jobs.reconcile.after_stop_intent": "the job is to be stopped, the cluster was not asked",
    "jobs.release.after_reading": "the release was read, nothing was noted",
    "jobs.archive.before_rows": "logs and outputs were read, no artifact is recorded",
    "jobs.archive.after_rows": "logs and outputs are kept, the cluster has not forgotten the workload",
    "jobs.archive.after_forget": "the cluster has forgotten the workload, the attempt is still open",
    "jobs.validate.before_open": "in the transaction: the validation job is saved, its node does not know it",
    "jobs.validate.before_close": "a validation job is over and released, its node is not told",
    "local.apply.before_fence": "nothing written yet",
    "local.apply.after_fence": "the generation is on disk, the workload is not",
    "local.apply.before_intent": "member folders written, the record is not: the workload does not exist yet",
    "local.apply.after_intent": "the record is on disk, nothing is started",
    "local.apply.between_members": "some members are started, others are not",
    "local.apply.after_launch": "every launcher is started, none is known to have claimed its member",
    "local.apply.before_return": "every member is claimed, the caller does not know it yet",
    "local.stop.after_request": "the stop request is on disk, nobody was woken",
    "local.release.while_cleaning": "temporary files are counted, not removed",
    "local.forget.after_fence": "the attempt is closed for ever, its records are still there",
    "local.launcher.before_claim": "the launcher runs, its member is not claimed",
    "local.launcher.after_claim": "the member is claimed, its program is not started",
    "local.launcher.after_start": "the program runs, its start is not recorded",
    "local.launcher.before_exit_record": "the program ended, its exit is not recorded",
    "kubernetes.apply.before_create": "the fence was read, the Job is not made",
    "kubernetes.apply.after_create": "the Job is made, the caller does not know it yet",
    "kubernetes.stop.after_mark": "the Job is marked as stopped, no pod was asked to end",
    "kubernetes.forget.after_fence": "the attempt is closed for ever, its objects are still there",
    "simulated.store.before_commit": "in the transaction: the change is written, not committed",
    "simulated.store.after_commit": "the change is committed, the caller does not know it yet",
}
"""Name of each point → what is true when it is reached."""


class FailpointError(RuntimeError):
    """Raised by an armed point whose action is `raise`."""


def failpoint(name: str) -> None:
    """Do what the environment asks for at this point, normally nothing.

    A misspelt environment or an unregistered name raises ValueError: a fault that never fires proves nothing.
    """
    armed = os.environ.get(ENVIRONMENT)
    if armed:
        _act(name, _parse(armed).get(name, ""))


def _parse(armed: str) -> dict[str, str]:
    actions = dict(part.strip().partition("=")[::2] for part in armed.split(","))
    if unknown := actions.keys() - FAILPOINTS.keys():
        raise ValueError(f"unknown failpoints: {sorted(unknown)}")
    return actions


def _act(name: str, action: str) -> None:
    if name not in FAILPOINTS:
        raise ValueError(f"failpoint {name} is not registered")
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "raise":
        raise FailpointError(name)
    elif action.startswith("sleep:"):
        time.sleep(int(action.removeprefix("sleep:")) / 1000)
    elif action:
        raise ValueError(f"failpoint {name} cannot {action}")
