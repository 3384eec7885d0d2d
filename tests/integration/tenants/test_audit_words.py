"""Every verb that the code writes has a word, and values are shown as their readers know them."""

import ast
import re
from pathlib import Path

import pytest
from django.utils import translation

from tenants import audit_words
from tenants.audit_words import VERBS, value_text
from tenants.models import AuditEvent
from tenants.selectors.audit import AuditFilter, audit_matching
from tenants.services.record_audit import record_audit
from tests.builders import GIB, NOW, make_job

ROOT = Path(audit_words.__file__).parents[1]


MADE_UP = {  # verbs that are put together from a prefix and a state
    "node.": {"node.cordoned", "node.draining", "node.retired", "node.returned"},
    "cluster.": {"cluster.attached", "cluster.paused", "cluster.detached"},
}
RECORDS = {"record_audit"}


def verbs_written() -> set[str]:
    """Verbs in the calls that write records, also through a choice between two or a prefix with a state."""
    found: set[str] = set()
    for app in ("portal", "tenants", "resources", "jobs", "metering"):
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if any(name in text for name in RECORDS):
                for node in ast.walk(ast.parse(text)):
                    found |= set().union(*(_texts(value) for value in _verbs(node)))
    return found


def _verbs(node: ast.AST) -> list[ast.expr]:
    """What stands for a verb here: a keyword of a call, or what is assigned to the name."""
    if isinstance(node, ast.Call):
        return [word.value for word in node.keywords if word.arg == "verb"]
    if isinstance(node, ast.Assign) and [ast.unparse(t) for t in node.targets] == ["verb"]:
        return [node.value]
    return []


def _texts(value: ast.expr) -> set[str]:
    if isinstance(value, ast.JoinedStr):
        prefix = value.values[0]
        assert isinstance(prefix, ast.Constant)
        return MADE_UP[str(prefix.value)]
    constants = (leaf.value for leaf in ast.walk(value) if isinstance(leaf, ast.Constant))
    return {text for text in constants if isinstance(text, str) and "." in text}


def test_every_verb_has_a_word_and_every_word_a_verb():
    assert verbs_written() - set(VERBS) == set()
    assert set(VERBS) - verbs_written() == set()


@pytest.mark.parametrize(
    ("name", "value", "resource", "want"),
    [
        ("nominal", 4_000, "cpu", "4 cores"),
        ("nominal", 63_000, "device", "1.5 cards"),
        ("ceiling", 2 * GIB, "memory", "2 GiB"),
        ("largest_job_parts", 21_000, "", "0.5 cards"),
        ("longest_limit_ms", 28_800_000, "", "8 h"),
        ("most_at_once", 0, "", "0"),
        ("is_active", False, "", "no"),
        ("role", "platform_admin", "", "Platform administrator"),
        ("valid_from", "2026-11-30T12:00:00Z", "", "2026-11-30"),
        ("name", "2026-11-30T", "", "2026-11-30T"),
        ("anything", None, "", ""),
        ("list", ["a", "b"], "", "a, b"),
        ("selector", {"cluster": "local", "zone": 1}, "", "cluster=local, zone=1"),
        ("name", {"zh-hans": "本机", "en": "This machine"}, "", "This machine"),
        ("memory_bytes", 2 * GIB, "", "2 GiB"),
    ],
)
def test_values_are_shown_as_their_readers_know_them(name, value, resource, want):
    with translation.override("en"):
        assert value_text(name, value, resource).startswith(want)


@pytest.fixture
def records(cast):
    record_audit(actor=cast.lead, verb="team.changed", target=cast.models, note="Because of the move", now=NOW)
    record_audit(actor=cast.lead, verb="role.granted", target=cast.alpha, after={"role": "owner"}, now=NOW)
    record_audit(actor=None, verb="user.created", target=cast.stranger, now=NOW)
    return cast


@pytest.mark.parametrize(
    ("wanted", "verbs"),
    [
        (AuditFilter(team="models"), ["role.granted", "team.changed"]),
        (AuditFilter(team="organisation", actor="Lead"), ["role.granted", "team.changed"]),
        (AuditFilter(team="vision", actor="Lead"), []),
        (AuditFilter(team="nowhere"), []),
        (AuditFilter(target_type="User", verb="user."), ["user.created"]),
        (AuditFilter(text="THE MOVE"), ["team.changed"]),
        (AuditFilter(text="alpha", actor="Lead"), ["role.granted"]),
    ],
)
def test_filters_by_team_kind_and_text(records, wanted, verbs):
    rows = audit_matching(records.auditor, wanted).filter(note__in=["", "Because of the move"])
    found = [event.verb for event in rows if event.seq > AuditEvent.objects.count() - 3]
    assert found == verbs


def test_the_page_speaks_in_words_keeps_the_key_beside_them_and_takes_filters_off_by_chip(records, as_user):
    response = as_user(records.auditor).get("/audit?team=models&verb=role.")
    page = response.content.decode()
    assert 'title="role.granted">gave a role<' in page and "Project owner" in page
    chips = {chip.label: chip.url for chip in response.context["chips"]}
    assert chips["Act: role."] == "?team=models" and chips["Team and all below: models"] == "?verb=role."


def test_the_chain_is_verified_on_a_page_of_its_own(records, as_user):
    page = as_user(records.auditor).get("/audit/verify").content.decode()
    assert "The records hold together" in page
    assert as_user(records.team_auditor).get("/audit/verify").status_code == 403


@pytest.fixture
def restored():
    """A request in another language leaves it active in the thread; the next test gets its own back."""
    with translation.override("en"):
        yield


WORDS = {"en": ("changed a pool", "gave a role"), "zh-hans": ("修改了资源池", "授予了角色")}


@pytest.mark.parametrize("language", WORDS)
def test_acts_are_words_on_homes_histories_and_the_jobs_own_audit(records, as_user, restored, language):
    changed, gave = WORDS[language]
    for user in (records.auditor, records.platform_admin):
        user.language = language
        user.save()
    job = make_job(records.alpha, records.member)
    for target, verb in ((records.shared, "pool.changed"), (job, "job.cancelled")):
        record_audit(actor=records.lead, verb=verb, target=target, after={"state": "x"}, now=NOW)
    auditor = as_user(records.auditor)
    home, pool = (auditor.get(path).content.decode() for path in ("/", "/pools/shared"))
    assert changed in home and gave in home and changed in pool
    tab = auditor.get(f"/jobs/{job.pk}?tab=audit").content.decode()
    for page in (home, pool, tab):
        assert not re.search(r">\s*(?:pool|role|job|team|user)\.[a-z_]+\s*<", page)


@pytest.mark.parametrize("language", WORDS)
def test_the_filter_offers_acts_in_words_and_takes_their_codes(records, as_user, restored, language):
    records.auditor.language = language
    records.auditor.save()
    client = as_user(records.auditor)
    page = client.get("/audit?verb=role.granted").content.decode()
    select = page[page.index('<select name="verb"') :].partition("</select>")[0]
    assert f'<option value="role.granted" selected>{WORDS[language][1]}</option>' in select
    assert select.count("<option") == len(VERBS) + 1
    assert 'value="role." selected' in client.get("/audit?verb=role.").content.decode()
