"""What follows a failure: whether the job is tried again by itself, and what a person does next."""

from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.reasons import BY_VALUE, Kind, Reason
from jobs.reconcile import RETRIED


class Retry(StrEnum):
    """When it can run again."""

    AUTO = "auto"  # the platform tries by itself while an attempt is left
    WAIT = "wait"  # nothing to change: once there is room
    CHANGE = "change"  # after the submitter changed something
    ADMIN = "admin"  # after an administrator did something


_ADMIN = frozenset({Reason.REJECTED_BY_CLUSTER, Reason.DEVICE_FAULT})
NEXT_STEPS: dict[Reason, str | Promise] = {
    Reason.NEVER_FITS: _("Lower what it asks for, or choose another pool or class; then submit it again."),
    Reason.NODE_LOST: _("Run it again: it is placed on another node."),
    Reason.READY_TIMEOUT: _("Run it again; if it does not start in time once more, ask the pool's administrator."),
    Reason.IMAGE_UNAVAILABLE: _("Correct the image's name or tag, or have access given; then run it again."),
    Reason.IMAGE_MISMATCH: _("Choose an image of the node's architecture, or another class; then run it again."),
    Reason.RUNTIME_MISMATCH: _("Choose another runtime or another class; then run it again."),
    Reason.MEMORY_LIMIT: _("Ask for more memory, or let the job use less, such as a smaller batch; then run it again."),
    Reason.APPLICATION_FAILED: _("Find the error in the last lines of the log, correct it; then run it again."),
    Reason.DEVICE_FAULT: _("Tell the pool's administrator, who takes the card out of service; then run it again."),
    Reason.PLATFORM_FAULT: _("Run it again; if it fails once more, give the support ID to an administrator."),
    Reason.REJECTED_BY_CLUSTER: _("Show this to the cluster's administrator; run it again once that is mended."),
    Reason.OUTCOME_UNKNOWN: _("Look at its files and log for how far it came; then run it again."),
    Reason.TIME_LIMIT: _("Set a longer run limit, or let the job go on from its last checkpoint; then run it again."),
    Reason.MAX_WAIT: _("Submit it again with a longer wait, when the queue is shorter, or with a smaller size."),
    Reason.EVENED_OUT: _("It waits for its turn again; nothing is to be done."),
    Reason.RECLAIMED: _("It waits for its turn again; nothing is to be done."),
    Reason.PREEMPTED: _("Run it again: it waits for its turn."),
}
_SAID: dict[Retry, str | Promise] = {
    Retry.AUTO: _("Not tried again by itself: it had one attempt."),
    Retry.WAIT: _("Not tried again by itself: it can run once there is room."),
    Retry.CHANGE: _("Not tried again by itself: unchanged, it would end the same way."),
    Retry.ADMIN: _("Not tried again by itself: an administrator has to act first."),
}


def retry_of(reason: Reason) -> Retry:
    """When a job that failed for this reason can run again."""
    if reason in RETRIED or reason in (Reason.PREEMPTED, Reason.RECLAIMED, Reason.EVENED_OUT):
        return Retry.AUTO
    if reason in _ADMIN:
        return Retry.ADMIN
    return Retry.WAIT if reason is Reason.MAX_WAIT else Retry.CHANGE


def advice(reason: str, attempts: int, most: int) -> str:
    """Whether a failed job is tried again and the next step; `attempts` of at most `most` were made."""
    known = BY_VALUE.get(reason)
    if known is None:
        return str(_("Not tried again by itself."))
    retry = retry_of(known)
    said = str(_SAID[retry])
    if retry is Retry.AUTO and most > 1:
        said = str(_("Tried again by itself; attempt {i} of {most} was the last.")).format(i=attempts, most=most)
    step = NEXT_STEPS.get(known, NEXT_STEPS[Reason.NEVER_FITS] if known.kind is Kind.NEVER else "")
    return f"{said} {step}".strip()
