"""The audit chain: what is tampered with is found, and the portal's own database role cannot tamper."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from portal.lib.request_context import RequestContext, serving
from tenants.chain import GENESIS, chain_hash
from tenants.models import AuditEvent
from tenants.services.record_audit import record_audit
from tenants.services.verify_audit import verify_audit
from tests.builders import NOW, make_user

DENIED = "42501"  # insufficient_privilege


@pytest.fixture
def chain(db: None) -> list[int]:
    """Five records; their sequence numbers."""
    actor = make_user("mira")
    first = AuditEvent.objects.count()
    for number in range(5):
        after = {"number": number, "name": "名 é ☎️", "none": None, "list": [1, "two"]}
        record_audit(actor=actor, verb=f"test.{number}", target=actor, after=after, now=NOW + timedelta(seconds=number))
    return [first + n for n in range(1, 6)]


@contextmanager
def as_the_owner() -> Iterator[None]:
    """What only the owner of the tables can do: switch the trigger off."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE tenants_auditevent DISABLE TRIGGER ALL")
        yield
        cursor.execute("ALTER TABLE tenants_auditevent ENABLE TRIGGER ALL")


def test_an_untouched_chain_holds(chain):
    state = verify_audit()
    assert (state.holds, state.first, state.last, state.count) == (True, 1, chain[-1], chain[-1])
    assert state.head == AuditEvent.objects.get(seq=chain[-1]).hash


def test_an_empty_chain_holds_and_says_that_it_is_empty(db):
    state = verify_audit()
    assert (state.holds, state.count, state.head) == (True, 0, GENESIS)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "2001:db8::1", "2001:DB8:0:0::1", "::ffff:10.0.0.1"])
def test_records_with_any_source_address_hold(db, address):
    with serving(RequestContext(source_ip=address)):
        record_audit(actor=None, verb="test.address", now=NOW)
    assert verify_audit().holds


@pytest.mark.parametrize(
    "change",
    [
        {"verb": "test.other"},
        {"after": {"number": 99}},
        {"actor_name": "Somebody else"},
        {"result": "denied"},
        {"at": NOW + timedelta(days=1)},
        {"source_ip": "10.0.0.1"},
        {"reason": "Changed"},
    ],
)
def test_a_changed_record_is_named(chain, change):
    with as_the_owner():
        AuditEvent.objects.filter(seq=chain[2]).update(**change)
    state = verify_audit()
    assert (state.broken_at, state.reason, state.last) == (chain[2], "HashMismatch", chain[1])


def test_a_record_whose_hash_was_computed_again_breaks_the_next_one(chain):

    with as_the_owner():
        AuditEvent.objects.filter(seq=chain[2]).update(verb="test.forged")
        forged = AuditEvent.objects.get(seq=chain[2])
        AuditEvent.objects.filter(seq=chain[2]).update(hash=chain_hash(forged))
    state = verify_audit()
    assert (state.broken_at, state.reason) == (chain[3], "PrevHashMismatch")


def test_a_missing_record_is_named(chain):
    with as_the_owner():
        AuditEvent.objects.filter(seq=chain[1]).delete()
    state = verify_audit()
    assert (state.broken_at, state.reason) == (chain[1], "Gap")


def test_a_trail_that_lost_its_beginning_is_found(chain):
    with as_the_owner():
        AuditEvent.objects.filter(seq=1).delete()
    assert (verify_audit().broken_at, verify_audit().reason) == (1, "Gap")


def test_only_the_last_records_are_read_when_asked(chain):
    state = verify_audit(last=2)
    assert (state.holds, state.first, state.last, state.count) == (True, chain[3], chain[4], 2)
    with as_the_owner():
        AuditEvent.objects.filter(seq=chain[0]).update(verb="test.forged")
    assert verify_audit(last=2).holds
    assert not verify_audit().holds


def test_the_trigger_stops_even_the_owner(chain):
    for act in (lambda: AuditEvent.objects.update(verb="x"), lambda: AuditEvent.objects.all().delete()):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            act()


def _partitions() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'tenants_auditevent'::regclass"
        )
        return [row[0] for row in cursor.fetchall()]


def _as_portal_app(statement: str) -> str | None:
    """The SQLSTATE the application's role gets, None when the database lets it."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL ROLE portal_app")
            cursor.execute(statement)
            transaction.set_rollback(True)
    except DatabaseError as error:
        return getattr(error.__cause__, "sqlstate", "")
    return None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tenants_auditevent SET verb = 'x'",
        "DELETE FROM tenants_auditevent",
        "TRUNCATE tenants_auditevent",
        "ALTER TABLE tenants_auditevent DISABLE TRIGGER ALL",
        "DROP TRIGGER audit_no_change ON tenants_auditevent",
        "ALTER TABLE tenants_auditevent DETACH PARTITION tenants_auditevent_default",
        "DELETE FROM django_migrations",
        "UPDATE auth_permission SET codename = 'x'",
        "UPDATE jobs_jobevent SET reason = 'x'",
        "DELETE FROM metering_segment",
        "UPDATE metering_ledgerentry SET cost_micro = 0",
        "CREATE TABLE public.mine (x int)",
    ],
)
def test_the_application_role_cannot_rewrite_the_trail(chain, statement):
    assert _as_portal_app(statement) == DENIED


def test_the_application_role_cannot_touch_any_partition(chain):
    partitions = _partitions()
    assert len(partitions) >= 3
    acts = ("SELECT 1 FROM {}", "UPDATE {} SET verb = 'x'", "DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}")
    results = {(name, act): _as_portal_app(act.format(name)) for name in partitions for act in acts}
    assert set(results.values()) == {DENIED}, results


@pytest.mark.parametrize("month", ["2027-06-15 BC", "12027-06-15", "1026-06-15"])
def test_the_partition_maker_takes_no_month_of_another_age(db, month):
    assert _as_portal_app(f"SELECT portal_ensure_partition('tenants_auditevent', '{month}')") == "P0001"


def test_the_application_role_can_read_and_append(chain):
    assert _as_portal_app("SELECT count(*) FROM tenants_auditevent") is None
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE portal_app")
        record_audit(actor=None, verb="test.appended", now=NOW)
        cursor.execute("RESET ROLE")
    assert verify_audit().last == chain[-1] + 1


def test_the_command_says_that_the_chain_holds(chain, capsys):
    out = StringIO()
    call_command("verify-audit", stdout=out, stderr=StringIO())
    said = json.loads(out.getvalue())
    assert (said["ok"], said["last"], said["broken_at"]) == (True, chain[-1], None)


def test_the_command_exits_1_and_names_the_broken_record(chain):
    with as_the_owner():
        AuditEvent.objects.filter(seq=chain[3]).update(note="forged")
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("verify-audit", stdout=out, stderr=err)
    assert stopped.value.code == 1
    assert json.loads(out.getvalue())["broken_at"] == chain[3]
    assert str(chain[3]) in err.getvalue()
