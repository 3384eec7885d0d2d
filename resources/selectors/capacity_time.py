"""Capacity over time, from measured segments: what jobs could have used, and what was out or without data."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection


@dataclass(frozen=True, slots=True)
class CapacityTime:
    """Base units x milliseconds of a class: usable by jobs, and installed in any state."""

    class_key: str
    resource: str
    usable: int
    installed: int


_SQL = """
SELECT class_key, resource,
  sum(CASE WHEN state = 'schedulable' THEN amount ELSE 0 END), sum(amount)
FROM (
  SELECT class_key, resource, state,
    quantity * trunc(1000 * extract(epoch FROM least(coalesce("end", %(hi)s), %(hi)s) - greatest(start, %(lo)s)))
      AS amount
  FROM resources_capacitysegment
  WHERE start < %(hi)s AND ("end" IS NULL OR "end" > %(lo)s)
) s
GROUP BY 1, 2 ORDER BY 2, 1
"""


def capacity_between(start: datetime, end: datetime) -> list[CapacityTime]:
    """One sum per class over [start, end); a time nobody measured is in none of them. One query."""
    with connection.cursor() as cursor:
        cursor.execute(_SQL, {"lo": start, "hi": end})
        return [CapacityTime(key, axis, int(usable), int(whole)) for key, axis, usable, whole in cursor.fetchall()]
