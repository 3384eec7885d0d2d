"""The top card of a job page: why it waits, failed or is still held, with need, have and short by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobs.models import Attempt, Job
from jobs.reasons import BY_VALUE, Kind, Reason, Side
from jobs.retry_words import advice
from jobs.scheduler.share import ENDLESS, WHOLE
from jobs.sentences import amount, sentence, unit_of
from jobs.states import JobState
from portal.lib import units
from portal.lib.clock import from_ms
from portal.lib.display import Fact, Tone
from portal.lib.localised import listed

_TONES: dict[Kind, Tone] = {
    Kind.WAIT: "wait",
    Kind.HELD: "wait",
    Kind.NEVER: "bad",
    Kind.FAILURE: "bad",
    Kind.RELEASE: "warn",
    Kind.PROGRESS: "ok",
    Kind.END: "off",
}


@dataclass(frozen=True, slots=True)
class Card:
    """One sentence, then need / have / short by, then what else is known."""

    tone: Tone
    say: str
    more: str = ""
    label: str = ""
    dials: list[Fact] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)


def card_of(job: Job, attempt: Attempt | None, now: datetime) -> Card | None:
    """The card, or None where the header says it all (running, succeeded, released)."""
    reason = BY_VALUE.get(job.reason)
    say = sentence(job.reason, job.facts, now)
    if job.state in (JobState.QUEUED, JobState.HELD):
        return Card(
            tone=_TONES.get(reason.kind, "wait") if reason else "wait",
            say=say,
            more=estimate_text(job.facts, now),
            dials=dials_of(job.facts),
            facts=[*_place(job.facts), *_shares(job.facts), *_kept(job.facts, now)],
        )
    if job.state == JobState.FAILED:
        return Card(
            tone="bad",
            say=say,
            label=_side(reason),
            more=advice(job.reason, job.generation, job.max_attempts),
            facts=_ends(attempt),
        )
    if job.state in (JobState.ADMITTED, JobState.STARTING, JobState.STOPPING):
        return Card(tone="warn" if job.state == JobState.STOPPING else "ok", say=say)
    return None


def dials_of(facts: Mapping[str, Any]) -> list[Fact]:
    """Needed, available, short by: only where the facts hold a need and something it is measured against."""
    need = facts.get("need")
    if not isinstance(need, int):
        return []
    have = next((facts[n] for n in ("free", "idle", "best", "max", "nominal") if isinstance(facts.get(n), int)), None)
    limit = facts.get("nominal", facts.get("max"))
    if isinstance(limit, int) and isinstance(facts.get("used"), int):
        have = max(0, limit - facts["used"])
    unit = units.unit_word(unit_of(facts), 2 * units.DEVICE_PARTS)
    dials = [Fact(_("needed"), f"{amount(need, facts)} {unit}")]
    if have is not None:
        dials.append(Fact(_("available to you"), f"{amount(have, facts)} {unit}"))
        dials.append(Fact(_("short by"), f"{amount(max(0, need - have), facts)} {unit}", short=True))
    return dials


def _place(facts: Mapping[str, Any]) -> list[Fact]:
    position, total = facts.get("queue_position"), facts.get("queue_total")
    if not isinstance(position, int):
        return []
    return [Fact(_("Position"), _("{position} of {total}").format(position=position, total=total))]


def _shares(facts: Mapping[str, Any]) -> list[Fact]:
    """What its project and the teams above hold of what is normally theirs in the pool: the least goes first."""
    shares = [f"{name} {_share(int(share))}" for name, share in facts.get("shares", ())]
    return [Fact(_("Shares in the pool"), " · ".join(shares))] if shares else []


def _share(millionths: int) -> str:
    return _("nothing of its own") if millionths >= ENDLESS else units.percent(millionths, WHOLE)


def _kept(facts: Mapping[str, Any], now: datetime) -> list[Fact]:
    """What is kept for the job, for the one job of its pool that has it."""
    kept = facts.get("reserved")
    if not isinstance(kept, Mapping):
        return []
    count = len(kept["hosts"])
    nodes = ngettext("{n} node", "{n} nodes", count).format(n=units.number(count))
    if kept["at_ms"] is None:
        return [Fact(_("Kept for this job"), nodes)]
    at = units.near_time_text(from_ms(int(kept["at_ms"])), timezone.get_current_timezone(), now)
    return [Fact(_("Kept for this job"), _("{nodes} from {t}").format(nodes=nodes, t=at))]


def estimate_text(facts: Mapping[str, Any], now: datetime) -> str:
    """A start estimate with its basis; nothing where nothing bounds it."""
    estimate, position = facts.get("estimate"), facts.get("queue_position")
    if not isinstance(estimate, Mapping) or (isinstance(position, int) and position > 1):
        return ""  # what the limits of running jobs free is for those ahead first
    zone = timezone.get_current_timezone()
    earliest = units.near_time_text(from_ms(int(estimate["earliest_ms"])), zone, now)
    latest = estimate.get("latest_ms")
    if latest is None or latest == estimate["earliest_ms"]:
        return _("Earliest {t}, from the time limits of running jobs.").format(t=earliest)
    until = units.near_time_text(from_ms(int(latest)), zone, now)
    return _("Estimate {t} to {until}, from the time limits of running jobs.").format(t=earliest, until=until)


def _side(reason: Reason | None) -> str:
    if reason is None:
        return ""
    words = {
        Side.USER: _("Your side"),
        Side.ADMIN: _("An administrator's side"),
        Side.PLATFORM: _("The platform's side"),
    }
    return words[reason.side]


def _ends(attempt: Attempt | None) -> list[Fact]:
    if attempt is None:
        return []
    facts = [Fact(_("Node"), listed(sorted({str(m["node"]) for m in attempt.placement})))]
    if attempt.exit_code is not None:
        facts.append(Fact(_("Exit code"), str(attempt.exit_code)))
    return facts
