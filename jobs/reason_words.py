"""Reasons in a few words, for heads, chips and sums; the sentence with its numbers is `jobs/sentences.py`."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from jobs.reasons import BY_VALUE, Kind, Reason, Side

REASON_WORDS: dict[Reason, str | Promise] = {
    Reason.CLASS_NOT_FOUND: pgettext_lazy("reason in short", "Class does not exist"),
    Reason.POOL_NOT_FOUND: pgettext_lazy("reason in short", "Pool does not exist"),
    Reason.EMPTY_DEMAND: pgettext_lazy("reason in short", "Asks for nothing"),
    Reason.DEVICE_AMOUNT: pgettext_lazy("reason in short", "Amount of cards cannot be given"),
    Reason.NO_HOST_OF_CLASS: pgettext_lazy("reason in short", "No node has the class"),
    Reason.ABOVE_LARGEST_NODE: pgettext_lazy("reason in short", "Larger than any node"),
    Reason.ABOVE_POOL_TOTAL: pgettext_lazy("reason in short", "Larger than the pool"),
    Reason.ABOVE_POOL_ROOM: pgettext_lazy("reason in short", "Too many replicas for the pool"),
    Reason.LABELS_UNMATCHED: pgettext_lazy("reason in short", "Labels match too few nodes"),
    Reason.ABOVE_CEILING: pgettext_lazy("reason in short", "Above the quota ceiling"),
    Reason.BORROWING_OFF: pgettext_lazy("reason in short", "Above quota, pool does not lend"),
    Reason.ABOVE_LARGEST_JOB: pgettext_lazy("reason in short", "Above the largest job allowed"),
    Reason.ABOVE_LONGEST_LIMIT: pgettext_lazy("reason in short", "Time limit too long"),
    Reason.TIME_LIMIT_MISSING: pgettext_lazy("reason in short", "Time limit missing"),
    Reason.ABOVE_PRIORITY_CEILING: pgettext_lazy("reason in short", "Priority too high"),
    Reason.RUNTIME_NOT_VALIDATED: pgettext_lazy("reason in short", "Runtime to be validated"),
    Reason.APPROVAL_PENDING: pgettext_lazy("reason in short", "Waits for approval"),
    Reason.HELD_BY_OPERATOR: pgettext_lazy("reason in short", "Held by a person"),
    Reason.PROJECT_HELD: pgettext_lazy("reason in short", "Project on hold"),
    Reason.POOL_PAUSED: pgettext_lazy("reason in short", "Pool paused"),
    Reason.POOL_NOT_GRANTED: pgettext_lazy("reason in short", "Pool not granted"),
    Reason.POOL_REFUSES: pgettext_lazy("reason in short", "Pools do not take it"),
    Reason.NO_POOL: pgettext_lazy("reason in short", "No pool to run in"),
    Reason.GRANT_NOT_STARTED: pgettext_lazy("reason in short", "Grant not started"),
    Reason.BACKED_OFF: pgettext_lazy("reason in short", "Waits for its next try"),
    Reason.STALE_CLUSTER: pgettext_lazy("reason in short", "Cluster does not report"),
    Reason.QUOTA_FULL: pgettext_lazy("reason in short", "Quota in use"),
    Reason.CEILING_REACHED: pgettext_lazy("reason in short", "Quota ceiling reached"),
    Reason.NOTHING_TO_BORROW: pgettext_lazy("reason in short", "Nothing to borrow"),
    Reason.LENDER_KEEPS: pgettext_lazy("reason in short", "Idle quota is guaranteed to others"),
    Reason.TOO_MANY_AT_ONCE: pgettext_lazy("reason in short", "Too many jobs at once"),
    Reason.INSUFFICIENT_CAPACITY: pgettext_lazy("reason in short", "Not enough free"),
    Reason.FRAGMENTED: pgettext_lazy("reason in short", "Free, but scattered"),
    Reason.NO_WHOLE_DEVICE: pgettext_lazy("reason in short", "No whole card free"),
    Reason.NO_NODE_FITS: pgettext_lazy("reason in short", "No node has room for all of it"),
    Reason.GANG_INCOMPLETE: pgettext_lazy("reason in short", "Not all members fit at once"),
    Reason.NODES_UNAVAILABLE: pgettext_lazy("reason in short", "Nodes out of service"),
    Reason.HOSTS_EXCLUDED: pgettext_lazy("reason in short", "Kept from nodes that failed"),
    Reason.DRIVERS_OUTSIDE: pgettext_lazy("reason in short", "Drivers outside the range"),
    Reason.BEHIND_OTHERS: pgettext_lazy("reason in short", "Behind others in the queue"),
    Reason.KEPT_FOR_EARLIER: pgettext_lazy("reason in short", "Room is kept for an earlier job"),
    Reason.NO_RUN_LIMIT: pgettext_lazy("reason in short", "No run limit, room is kept"),
    Reason.KEPT_WITHOUT_TIME: pgettext_lazy("reason in short", "Room is kept for an earlier job"),
    Reason.NOT_EVALUATED: pgettext_lazy("reason in short", "Not looked at yet"),
    Reason.NEVER_FITS: pgettext_lazy("reason in short", "Can never start"),
    Reason.NODE_LOST: pgettext_lazy("reason in short", "Node lost"),
    Reason.READY_TIMEOUT: pgettext_lazy("reason in short", "Did not start in time"),
    Reason.IMAGE_UNAVAILABLE: pgettext_lazy("reason in short", "Image could not be fetched"),
    Reason.IMAGE_MISMATCH: pgettext_lazy("reason in short", "Image of another architecture"),
    Reason.RUNTIME_MISMATCH: pgettext_lazy("reason in short", "Runtime does not fit"),
    Reason.MEMORY_LIMIT: pgettext_lazy("reason in short", "Out of memory"),
    Reason.APPLICATION_FAILED: pgettext_lazy("reason in short", "Application error"),
    Reason.DEVICE_FAULT: pgettext_lazy("reason in short", "Card fault"),
    Reason.PLATFORM_FAULT: pgettext_lazy("reason in short", "Platform fault"),
    Reason.REJECTED_BY_CLUSTER: pgettext_lazy("reason in short", "Refused by the cluster"),
    Reason.OUTCOME_UNKNOWN: pgettext_lazy("reason in short", "Outcome not observed"),
    Reason.TIME_LIMIT: pgettext_lazy("reason in short", "Time limit reached"),
    Reason.TIME_TO_LIVE: pgettext_lazy("reason in short", "Time to live reached"),
    Reason.MAX_WAIT: pgettext_lazy("reason in short", "Longest wait passed"),
    Reason.CHANGED: pgettext_lazy("reason in short", "Changed while it waited"),
    Reason.MAKING_ROOM: pgettext_lazy("reason in short", "Others stop for it"),
    Reason.EVENED_OUT: pgettext_lazy("reason in short", "Stopped for a smaller share"),
    Reason.RECLAIMED: pgettext_lazy("reason in short", "Borrowed capacity taken back"),
    Reason.PREEMPTED: pgettext_lazy("reason in short", "Preempted"),
    Reason.SUBMITTED: _("Submitted"),
    Reason.HOLD_LIFTED: _("Queued"),
    Reason.ADMITTED: _("Admitted"),
    Reason.START_REQUESTED: _("Starting"),
    Reason.WAITING_FOR_CLUSTER: _("Starting"),
    Reason.RUNNING: _("Running"),
    Reason.STOP_REQUESTED: _("Stopping"),
    Reason.PLACEMENT_WITHDRAWN: _("Requeued"),
    Reason.REQUEUED: _("Requeued"),
    Reason.SUCCEEDED: _("Succeeded"),
    Reason.CANCELLED_BY_USER: _("Cancelled"),
    Reason.DECLINED: _("Declined"),
}
"""Whatever a job may carry as its reason; what is said of its release stands elsewhere."""

SIDE_WORDS: dict[Side, str | Promise] = {
    Side.USER: pgettext_lazy("whose move it is", "submitter"),
    Side.ADMIN: pgettext_lazy("whose move it is", "administrator"),
    Side.PLATFORM: pgettext_lazy("whose move it is", "platform"),
}


def reason_word(reason: str) -> str:
    """The few words; a reason that has none is shown by its constant."""
    known = BY_VALUE.get(reason)
    return str(REASON_WORDS.get(known, reason)) if known else reason


def side_word(reason: str) -> str:
    """Whose move it is, "" when the reason is not known."""
    known = BY_VALUE.get(reason)
    return str(SIDE_WORDS[known.side]) if known else ""


NEVER: tuple[str, ...] = tuple(reason.value for reason in Reason if reason.kind is Kind.NEVER)
"""Constants of what cannot start by today's rules and inventory."""
