"""What is declared of a class: facts with their source, equivalences one way and for a time."""

from datetime import date, timedelta

import pytest
import time_machine

from portal.lib.errors import Conflict, Denied, Invalid
from resources.models import ClassEquivalence, ClassFact
from resources.selectors.declared import equivalences_of, facts_of, in_force
from resources.services.declare_equivalence import declare_equivalence
from resources.services.declare_fact import declare_fact
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import NOW
from tests.declared import make_equivalence, make_fact

FACT = {
    "topic": "throughput",
    "subject": "BF16",
    "amount": "312.5",
    "support": "",
    "source": "Data sheet, page 3",
    "as_of": "2026-11-01",
}


@pytest.fixture
def cards(cast):
    """Two classes of cards."""
    return make.make_class("a80", "GPU"), make.make_class("n64", "NPU")


def test_a_fact_has_a_source_and_a_date_and_is_no_measurement(cast, cards, as_user):
    admin = as_user(cast.platform_admin)
    admin.save("/classes/a80/facts/new", **FACT, reason="Asked for.")
    row = ClassFact.objects.get()
    assert (row.amount, row.subject, row.as_of, row.declared_by) == (
        312_500_000_000_000,
        "BF16",
        date(2026, 11, 1),
        cast.platform_admin,
    )
    page = as_user(cast.member).page("/classes/a80")
    assert "312.5 TFLOPS" in page and "Data sheet, page 3" in page and "2026-11-01" in page
    assert "said by people, not measured by the portal" in page
    assert AuditEvent.objects.get(verb="class.fact_declared").after["fact"]["source"] == "Data sheet, page 3"


def test_a_newer_fact_takes_the_place_of_the_old_one_and_says_so(cast, cards, as_user):
    make_fact(cards[0], topic="throughput", subject="BF16", amount=10**14, support="", source="Hearsay")
    admin = as_user(cast.platform_admin)
    assert "It takes the place of 100 TFLOPS (Hearsay)." in admin.preview("/classes/a80/facts/new", **FACT)
    admin.save("/classes/a80/facts/new", **FACT)
    assert [fact.source for fact in facts_of(cards[0])] == ["Data sheet, page 3"]
    assert ClassFact.objects.exclude(withdrawn_at=None).get().source == "Hearsay"


@pytest.mark.parametrize(
    "changed",
    [
        {"subject": "FP17"}, {"amount": ""}, {"amount": "0"}, {"amount": "1e3"}, {"amount": "-1"}, {"amount": "٣"},
        {"source": ""}, {"as_of": "2026-12-24"}, {"as_of": "soon"}, {"support": "yes"}, {"topic": "colour"},
        {"topic": "framework"}, {"topic": "island", "amount": "1.5"},
        {"topic": "operators", "amount": "", "subject": ""},
    ],
)  # fmt: skip
def test_what_is_no_fact_is_refused_and_nothing_is_stored(cast, cards, as_user, changed):
    as_user(cast.platform_admin).send("/classes/a80/facts/new", 422, step="preview", **FACT | changed)
    assert not ClassFact.objects.exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"topic": "island", "subject": "NVLink", "amount": 8, "support": ""}, "8 devices"),
        ({"topic": "numa", "subject": "", "amount": 2, "support": ""}, ">2<"),
        ({"topic": "framework", "subject": "MindSpore 2.3", "support": "yes"}, "supported"),
        ({"topic": "operators", "subject": "FlashAttention", "support": "partly"}, "partly supported"),
        ({"topic": "throughput", "subject": "INT8", "amount": 640 * 10**12, "support": ""}, "640 TOPS"),
    ],
)
def test_every_topic_is_shown_with_its_unit(cast, cards, as_user, fields, said):
    make_fact(cards[1], **fields)
    page = as_user(cast.member).page("/classes/n64")
    assert said in page and fields["subject"] in page


def test_a_fact_is_withdrawn_with_a_reason(cast, cards, as_user):
    fact = make_fact(cards[0])
    admin = as_user(cast.platform_admin)
    admin.save(f"/classes/a80/facts/{fact.pk}/withdraw", reason="It was of another card.")
    assert not facts_of(cards[0]).exists()
    assert AuditEvent.objects.get(verb="class.fact_withdrawn").note == "It was of another card."
    admin.page(f"/classes/a80/facts/{fact.pk}/withdraw", 404)
    with pytest.raises(Denied):
        declare_fact(
            actor=cast.pool_admin, resource_class=cards[0], topic="numa", amount=1, source="x", as_of=NOW.date(),
            now=NOW,
        )  # fmt: skip


EQUIVALENCE = {
    "by": "n64",
    "task_type": "training",
    "evidence": "Same loss after 1,000 steps.",
    "evidence_job": "",
    "valid_to": "2027-01-31T00:00",
}


def test_an_equivalence_holds_one_way_only_and_says_that_nothing_uses_it(cast, cards, as_user):
    admin = as_user(cast.platform_admin)
    page = admin.preview("/classes/a80/equivalences/new", **EQUIVALENCE)
    assert "The other direction is not declared by it" in page and "Nothing places jobs by equivalences yet" in page
    admin.save("/classes/a80/equivalences/new", **EQUIVALENCE)
    row = ClassEquivalence.objects.get()
    assert (row.of, row.by, row.declared_by) == (*cards, cast.platform_admin)
    assert not ClassEquivalence.objects.filter(of=cards[1]).exists()
    for key in ("a80", "n64"):
        page = as_user(cast.member).page(f"/classes/{key}")
        assert "Same loss after 1,000 steps." in page and "in force" in page and "Admin" in page


def test_it_ends_by_itself_and_can_be_declared_anew(cast, cards, as_user):
    row = make_equivalence(*cards, valid_to=NOW + timedelta(days=1))
    assert in_force(row, NOW) and not in_force(row, NOW + timedelta(days=1))
    with pytest.raises(Conflict) as refused:
        make_equivalence(*cards)
    assert refused.value.reason == "EquivalenceInForce"
    make_equivalence(*reversed(cards))  # the other direction is a declaration of its own
    with time_machine.travel(NOW + timedelta(days=2), tick=False):
        assert "ended" in as_user(cast.member).page("/classes/a80")
    later = NOW + timedelta(days=2)
    declare_equivalence(
        actor=None, of=cards[0], by=cards[1], task_type="training", evidence="Again.", now=later,
        valid_to=later + timedelta(days=9),
    )  # fmt: skip
    assert [one.evidence for one in equivalences_of(cards[0]).filter(of=cards[0])] == ["Again."]


def test_evidence_is_a_job_the_reader_may_see_or_words(cast, cards, as_user):
    job = make.make_job(cast.alpha, cast.member)
    admin = as_user(cast.platform_admin)
    given = EQUIVALENCE | {"evidence": "", "evidence_job": str(job.pk)}
    admin.save("/classes/a80/equivalences/new", **given)
    assert f"/jobs/{job.pk}" in as_user(cast.member).page("/classes/a80")
    page = as_user(cast.stranger).page("/classes/a80")
    assert str(job.pk) not in page and "a job you may not see" in page


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"evidence": ""}, "Give evidence"),
        ({"by": "a80"}, "Select a valid choice"),
        ({"task_type": "gaming"}, "Select a valid choice"),
        ({"valid_to": "2026-11-01T00:00"}, "It must end after now"),
        ({"valid_to": "2036-11-01T00:00"}, "It must end after now"),
        ({"valid_to": ""}, "required"),
        ({"evidence_job": "j-1"}, "This is no id of a job."),
        ({"evidence_job": "00000000-0000-4000-8000-000000000000"}, "There is no such job"),
    ],
)
def test_what_is_no_equivalence_is_refused(cast, cards, as_user, changed, said):
    path = "/classes/a80/equivalences/new"
    assert said in as_user(cast.platform_admin).send(path, 422, step="preview", **EQUIVALENCE | changed)
    assert not ClassEquivalence.objects.exists()


def test_an_equivalence_is_withdrawn_by_its_own_class_only(cast, cards, as_user):
    row = make_equivalence(*cards)
    admin = as_user(cast.platform_admin)
    admin.page(f"/classes/n64/equivalences/{row.pk}/withdraw", 404)
    admin.save(f"/classes/a80/equivalences/{row.pk}/withdraw", reason="The new driver is slower.")
    assert not equivalences_of(cards[0]).exists()
    with pytest.raises(Invalid):
        make_equivalence(cards[0], cards[0])
