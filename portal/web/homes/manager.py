"""The manager's home: what it cost, how much of the capacity was used, how long jobs waited, how many failed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from jobs.selectors.pulse import median_wait, waiting_now
from jobs.selectors.standing import ended_between
from metering.selectors.open_use import open_pieces, sum_of
from metering.selectors.usage import Scope, count_other_lanes, use_by_project
from metering.selectors.use import Use, money_of
from metering.selectors.windows import Window, window_of
from metering.shapes import Sums, sums_of
from portal.lib import units
from portal.web.homes.parts import Tile, listing
from resources.selectors.capacity_time import capacity_between
from resources.selectors.catalogue import ClassLooks, class_looks, kind_of_resource
from tenants import access
from tenants.models import Project, Team, User

PROJECTS_SHOWN = 20
CLASSES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Line:
    """A team or project with its sums of this month and of the same days of the last; `change` in per cent."""

    name: str
    url: str
    now: Sums
    before: Sums
    change: str
    is_team: bool = False


def manager_home(user: User, now: datetime) -> dict[str, Any]:
    """Twelve queries, whatever there is."""
    window = window_of("month", now, timezone.get_current_timezone())
    before = same_days_before(window, now)
    projects = list(access.visible_projects(user, "usage.see").select_related("team"))
    keys = Scope(projects=[p.pk for p in projects])
    found, earlier = use_by_project(keys, window), use_by_project(keys, before)
    whole = access.at_platform(user, "usage.see")
    lines, shown, used = _lines(projects, found, earlier)
    return {
        "window": window,
        "before": before,
        "lines": lines,
        "shown": shown,
        "used": used,
        "total": sums_of(money_of(use for uses in found.values() for use in uses)),
        "total_before": sums_of(money_of(use for uses in earlier.values() for use in uses)),
        "tiles": _tiles(user, window, before, now),
        "rates": _rates(found, keys, window, now, class_looks()) if whole else None,
    }


def same_days_before(window: Window, now: datetime) -> Window:
    """The last month up to the same day and time of it as now is of this one; at most the whole of it."""
    zone = timezone.get_current_timezone()
    last = window_of("last-month", now, zone)
    end = min(last.start + (now - window.start), last.end)
    return Window("same-days", last.start, end, last.first, (end - timedelta(microseconds=1)).astimezone(zone).date())


def _tiles(user: User, window: Window, before: Window, now: datetime) -> list[Tile]:
    wait, waits = median_wait(user, window.start, window.end)
    failed, ended = ended_between(user, window.start, window.end)
    failed_before, ended_before = ended_between(user, before.start, before.end)
    waiting = waiting_now(user)
    unattributed = count_other_lanes(window)
    return [
        Tile(
            _("Median wait"),
            _("no job started") if wait is None else units.duration_text(units.milliseconds(wait)),
            listing("job_list", state="waiting"),
            note=_("of {n} starts this month; {waiting} wait now").format(n=waits, waiting=waiting.count),
        ),
        Tile(
            _("Failed of ended"),
            units.percent(failed, ended) if ended else _("no job ended"),
            listing("job_list", state="failed", ended_since=window.start.isoformat()),
            note=_("{failed} of {ended}; same days last month {before}").format(
                failed=failed,
                ended=ended,
                before=units.percent(failed_before, ended_before) if ended_before else _("none"),
            ),
        ),
        Tile(
            _("Segments without a project"),
            units.number(unattributed),
            listing("unattributed"),
            tone="warn" if unattributed else "",
        ),
    ]


def _lines(
    projects: Sequence[Project], found: Mapping[UUID, list[Use]], earlier: Mapping[UUID, list[Use]]
) -> tuple[list[Line], int, int]:
    """Teams by weight, under each its projects by weight; how many projects are shown, and how many used anything."""
    used = [p for p in projects if p.pk in found or p.pk in earlier]
    ranked = sorted(used, key=lambda p: (-_weight(found.get(p.pk, [])), p.slug))[:PROJECTS_SHOWN]
    teams: dict[Team, list[Project]] = {}
    for project in ranked:
        teams.setdefault(project.team, []).append(project)
    lines = []
    for team, own in teams.items():
        if len(own) > 1:
            uses = [use for p in own for use in found.get(p.pk, [])]
            old = [use for p in own for use in earlier.get(p.pk, [])]
            lines.append(_line(team.name, listing("team_detail"), uses, old, is_team=True))
        lines += [
            _line(
                project.name if len(own) > 1 else f"{team.name} · {project.name}",
                listing("usage_by_project", project=project.slug),
                found.get(project.pk, []),
                earlier.get(project.pk, []),
            )
            for project in own
        ]
    return lines, len(ranked), len(used)


def _line(name: str, url: str, uses: Sequence[Use], old: Sequence[Use], *, is_team: bool = False) -> Line:
    now, before = _weight(uses), _weight(old)
    change = f"{'+' if now >= before else units.MINUS}{units.percent(int(abs(now - before)), int(before), 0)}"
    return Line(name, url, sums_of(money_of(uses)), sums_of(money_of(old)), change if before else _("new"), is_team)


def _weight(uses: Sequence[Use]) -> Decimal:
    return money_of(uses).weight


def _rates(
    found: Mapping[UUID, list[Use]], scope: Scope, window: Window, now: datetime, looks: ClassLooks
) -> list[dict[str, Any]]:
    """Per class how much of the time that jobs could have used was allocated: final entries and what is still open."""
    allocated: dict[tuple[str, str], int] = {}
    running = sum_of(open_pieces(scope, window, now))
    for use in (*(use for uses in found.values() for use in uses), *running):
        axis = use.class_key, use.resource
        allocated[axis] = allocated.get(axis, 0) + use.allocated
    rows: list[dict[str, Any]] = []
    for item in capacity_between(window.start, min(now, window.end)):
        taken = allocated.get((item.class_key, item.resource), 0)
        rows.append(
            {
                "name": looks[item.class_key].name,
                "kind": looks[item.class_key].kind or kind_of_resource(item.resource),
                "taken": taken,
                "usable": item.usable,
                "rate": units.percent(taken, item.usable) if item.usable else "",
                "measured": units.percent(item.usable, item.installed) if item.installed else "",
            }
        )
    return sorted(rows, key=_fullest)[:CLASSES_SHOWN]


def _fullest(row: Mapping[str, Any]) -> tuple[Fraction, str]:
    """Amounts of different classes do not compare; their rates do."""
    return -Fraction(row["taken"], row["usable"] or 1), str(row["name"])
