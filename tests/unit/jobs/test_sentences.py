"""Facts as the scheduler leaves them make a sentence, whatever the reason."""

from datetime import UTC, datetime

import pytest
from django.utils import translation

from jobs.reasons import FACTS, Fact, Reason
from jobs.sentences import sentence

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SAMPLES = {
    Fact.TEXT: "a text",
    Fact.COUNT: 2,
    Fact.AMOUNT: 42_000,
    Fact.INSTANT: 1_790_000_000_000,
    Fact.SINCE: 1_790_000_000_000,
    Fact.SPAN: 60_000,
    Fact.NAMES: ["one", "two"],
    Fact.LINES: [["cpu", "cpu", 4_000]],
    Fact.CAUSES: [["cordoned", 1], ["draining", 2]],
}


@pytest.fixture(autouse=True)
def no_catalogue(monkeypatch):
    monkeypatch.setattr("jobs.sentences.name_of", lambda kind, said: said)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_reason_speaks_with_facts_as_they_are_stored(language):
    for reason in Reason:
        facts = {name: SAMPLES[FACTS[name]] for name in reason.required_facts if name in FACTS} | {"resource": "device"}
        with translation.override(language):
            said = sentence(reason, facts, NOW)
        assert said and "{" not in said and "–" not in said.replace(" – ", ""), reason


def test_nodes_out_of_service_are_counted_by_cause_in_words():
    facts = {"down": 3, "nodes": 4, "causes": [["Cordoned", 1], ["Draining", 1], ["devices", 1]]}
    with translation.override("en"):
        said = sentence(Reason.NODES_UNAVAILABLE, facts, NOW)
    assert said.endswith("(cordoned (1), draining (1), unhealthy cards (1)).")


@pytest.mark.parametrize("cause", ["Cordoned", "cordoned"])
def test_a_stage_reads_as_a_word_in_any_case(cause):
    facts = {"down": 1, "nodes": 4, "causes": [[cause, 1]]}
    with translation.override("en"):
        assert sentence(Reason.NODES_UNAVAILABLE, facts, NOW).endswith("(cordoned (1)).")
