"""What is not as it should be about the evidence of an attempt, in sentences: logs, times, what stayed behind."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.keeping import LEFT_BEHIND
from jobs.models import Attempt, Job
from portal.lib import units

_NAMES = {
    "bound_at": gettext_lazy("bound"),
    "started_at": gettext_lazy("started"),
    "ready_at": gettext_lazy("ready"),
    "stopped_at": gettext_lazy("stopped"),
}


def log_notes(attempt: Attempt | None) -> list[str]:
    """One for each log that could not be had: whose, since when, why, and whether it is still asked for."""
    trouble = attempt.log_trouble if attempt is not None else {}
    if not trouble.get("logs"):
        return []
    since = datetime.fromisoformat(trouble["since"])
    over = since + timedelta(minutes=settings.LOG_DEADLINE_MINUTES)
    if trouble.get("given_up"):
        more = _("It is no longer asked for.")
    else:
        more = _("It is asked for until {when}.").format(when=_moment(over))
    said = _("Log of member {member} not available: node {node} has given none since {when} ({cause}). {more}")
    return [
        said.format(member=one["member"], node=one["node"], cause=one["cause"], when=_moment(since), more=more)
        for one in trouble["logs"]
    ]


def time_notes(attempt: Attempt) -> list[str]:
    """One for each time in whose place stands when the portal saw it."""
    said = _(
        "Attempt {number}, {name}: the cluster says {said}, which cannot have been. What is written is what the portal "
        "saw."
    )
    told = {key: datetime.fromisoformat(text) for key, text in attempt.corrected_times.items()}
    return [
        said.format(number=attempt.number, name=name, said=_moment(told[key]))
        for key, name in _NAMES.items()
        if key in told
    ]


def left_notes(job: Job) -> Iterator[str]:
    """Whether something of it stays on its cluster that nobody may take away."""
    if job.archive_note.startswith(LEFT_BEHIND):
        yield _(
            "Its namespace is being deleted, and the portal may touch nothing there any more. Its pods keep the "
            "namespace from going until an administrator of the cluster takes the finalizer armillary/evidence off "
            "them."
        )


def _moment(moment: datetime) -> str:
    return units.time_text(moment, get_current_timezone(), "second")
