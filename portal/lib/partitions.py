"""Tables that grow are partitioned by month from their first migration (architecture rule 13).

Making a partition is DDL, which the application's role may not do; a function owned by the migrating role
does it, so that the hourly tick works with the restricted role.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

from django.apps.registry import Apps
from django.db import connection
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from portal.lib.clock import utc_now

PARTITIONED: dict[str, str] = {
    "tenants_auditevent": "at",
    "jobs_jobevent": "at",
    "metering_segment": "start",
    "metering_ledgerentry": "start",
}

PREPARE_SQL = """
CREATE EXTENSION IF NOT EXISTS btree_gist;
DO $do$ BEGIN
  CREATE ROLE portal_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
  NULL;  -- made by the administrator, or by another database of the same server
END $do$;
GRANT USAGE ON SCHEMA public TO portal_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO portal_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO portal_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO portal_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO portal_app;

CREATE OR REPLACE FUNCTION portal_ensure_partition(parent text, month date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $fn$
DECLARE
  first date := date_trunc('month', month);
  child text := format('%s_%s', parent, to_char(first, 'YYYYMM'));
BEGIN
  IF to_regclass(child) IS NOT NULL THEN RETURN; END IF;
  IF month NOT BETWEEN now()::date - 3660 AND now()::date + 3660 THEN
    RAISE EXCEPTION 'not a month of our time: %', month;
  END IF;
  IF parent NOT IN ('tenants_auditevent', 'jobs_jobevent', 'metering_segment', 'metering_ledgerentry') THEN
    RAISE EXCEPTION 'not a partitioned table: %', parent;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext(child));
  IF to_regclass(child) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
                 child, parent, first::timestamp AT TIME ZONE 'UTC',
                 (first + interval '1 month')::timestamp AT TIME ZONE 'UTC');
  EXECUTE format('REVOKE ALL ON %I FROM portal_app', child);
EXCEPTION WHEN check_violation THEN
  -- Rows of that month already stand in the default partition: they are read all the same, and stay there.
  RAISE NOTICE '% keeps its rows in the default partition', child;
END $fn$;
GRANT EXECUTE ON FUNCTION portal_ensure_partition(text, date) TO portal_app;
"""


def partition(table: str) -> Callable[[Apps, BaseDatabaseSchemaEditor], None]:
    """A migration step that rebuilds a fresh, empty table as one partitioned by month of its time column.

    Keeps column order, defaults, checks, foreign keys and index names; the key becomes (time, key).
    """

    def forwards(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        _rebuild(table, PARTITIONED[table], editor)

    return forwards


def _rebuild(table: str, column: str, editor: BaseDatabaseSchemaEditor) -> None:
    # Constraints that Django still holds back (foreign keys) must exist before they are copied.
    for statement in editor.deferred_sql:
        editor.execute(statement, None)
    editor.deferred_sql.clear()
    with editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname, contype, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = %s::regclass"
            " AND contype IN ('f', 'c', 'p')",
            [table],
        )
        constraints = cursor.fetchall()
        cursor.execute(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass AND NOT indisprimary",
            [table],
        )
        indexes = [row[0] for row in cursor.fetchall()]
    key = next(d.removeprefix("PRIMARY KEY (").rstrip(")") for _, kind, d in constraints if kind == "p")
    execute = editor.execute
    execute(f'ALTER TABLE "{table}" RENAME TO "{table}_plain"', None)
    execute(
        f'CREATE TABLE "{table}" (LIKE "{table}_plain" INCLUDING DEFAULTS) PARTITION BY RANGE ("{column}")',
        None,
    )
    execute(f'DROP TABLE "{table}_plain"', None)
    execute(f'ALTER TABLE "{table}" ADD PRIMARY KEY ("{column}", {key})', None)
    for name, kind, definition in constraints:
        if kind != "p":
            execute(f'ALTER TABLE "{table}" ADD CONSTRAINT "{name}" {definition}', None)
    for definition in indexes:
        execute(definition.replace(" ON ONLY ", " ON "), None)
    execute(f'CREATE TABLE "{table}_default" PARTITION OF "{table}" DEFAULT', None)
    # Whatever grows by the month is only ever added to.
    execute(f'REVOKE ALL ON "{table}" FROM portal_app', None)
    execute(f'GRANT SELECT, INSERT ON "{table}" TO portal_app', None)
    execute(f'REVOKE ALL ON "{table}_default" FROM portal_app', None)
    ensure_partitions(utc_now(), tables=(table,))


def ensure_partitions(
    now: datetime, *, back: int = 0, ahead: int = 2, tables: Iterable[str] = tuple(PARTITIONED)
) -> None:
    """Make the monthly partitions from `back` months ago to `ahead` months on. Idempotent."""
    with connection.cursor() as cursor:
        for table in tables:
            for offset in range(-back, ahead + 1):
                year, month = divmod(now.year * 12 + now.month - 1 + offset, 12)
                cursor.execute("SELECT portal_ensure_partition(%s, %s)", [table, f"{year:04d}-{month + 1:02d}-01"])
