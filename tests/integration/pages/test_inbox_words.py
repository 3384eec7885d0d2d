"""Every event has a sentence in both languages, with the same facts in each."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from jobs.reason_words import REASON_WORDS
from jobs.reasons import Kind, Reason
from portal.web.management.commands.check_translations import read_po
from tenants.notify.events import EVENTS, Event

LOCALE = Path(settings.BASE_DIR) / "locale"


@pytest.fixture(scope="module")
def chinese() -> dict[str, str]:
    """What is translated: the catalogue, and the parts that are still to be merged into it."""
    files = [LOCALE / "zh_Hans" / "LC_MESSAGES" / "django.po", *(LOCALE / "fragments").glob("*.po")]
    found: dict[str, str] = {}
    for file in files:
        for (_context, english), (texts, fuzzy) in read_po(file.read_text(encoding="utf-8")).items():
            if texts[0] and not fuzzy:
                found[english] = texts[0]
    return found


def names(text: str) -> set[str]:
    return set(re.findall(r"{(\w+)}", text))


@pytest.mark.parametrize("event", Event)
def test_every_event_has_its_sentence_in_both_languages(event, chinese):
    english = str(EVENTS[event].message)
    assert names(english), "a sentence without a fact says nothing about what happened"
    assert names(chinese[english]) == names(english)


def test_every_reason_that_keeps_a_job_from_running_has_a_few_words_in_both_languages(chinese):
    needed = {r for r in Reason if r.kind in (Kind.WAIT, Kind.NEVER, Kind.HELD, Kind.FAILURE)}
    assert needed <= set(REASON_WORDS)
    assert [str(words) for words in REASON_WORDS.values() if str(words) not in chinese] == []
