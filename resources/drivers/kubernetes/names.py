"""Words by which our objects on a cluster are known again. Pure."""

from datetime import UTC, datetime

PREFIX = "armillary/"
JOB, ATTEMPT = PREFIX + "job", PREFIX + "attempt"
"""Labels: ids of ours; what carries `ATTEMPT` is ours."""
WORKLOAD = PREFIX + "workload"
"""Annotation of Jobs and pods: the name they were made under. Copies keep it, and are known by it."""
MEMBER_COUNT, GENERATION = PREFIX + "members", PREFIX + "generation"
GANG, GRACE = PREFIX + "gang", PREFIX + "grace-seconds"
DEVICES = PREFIX + "devices"
APPLIED_AT, STOP_ASKED_AT = PREFIX + "applied-at", PREFIX + "stop-asked-at"
"""Annotations; the API keeps whole seconds only, ours are exact to the microsecond."""
EVIDENCE = PREFIX + "evidence"
"""Finalizer of a pod: its end can still be read after somebody deleted it. Removed by `forget`."""
INDEX = "batch.kubernetes.io/job-completion-index"
HOME = "armillary-system"
"""Namespace of the service accounts: not among the jobs, whose pods could otherwise take on a stronger one."""
JOB_NAME = "batch.kubernetes.io/job-name"
FENCE = "armillary-fence"
"""ConfigMap: which attempts must not be made (again), by job."""
CONTAINER = "main"
_FIRST_YEAR, _LAST_YEAR, _LONGEST = 1970, 9000, 4_096


def stamp(moment: datetime) -> str:
    """As our annotations hold it."""
    return moment.astimezone(UTC).isoformat()


def moment_of(text: object) -> datetime | None:
    """A time as the API or we wrote it; None for what is none."""
    if not isinstance(text, str):
        return None
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00"))
        moment = read.astimezone(UTC) if read.tzinfo else None
    except (ValueError, OverflowError):
        return None
    # Anybody may write an annotation: one that no calculation could go on from is no time.
    return moment if moment is not None and _FIRST_YEAR <= moment.year <= _LAST_YEAR else None


def number_of(text: object) -> int | None:
    """A count as our annotations hold it, of nine digits at most; None for what is none."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 10 else None


def shown(text: object) -> str:
    """What a cluster or a program said, as text that can be stored: a log may end in any bytes."""
    kept = str(text)[:_LONGEST]
    return "".join(one if one.isprintable() or one in "\n\t" else "\ufffd" for one in kept)
