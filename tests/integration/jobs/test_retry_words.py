"""Every failure says whether it is tried again and what to do next, on the page and in the API."""

import pytest
from django.test import Client
from django.utils import translation

from jobs.reasons import Kind, Reason
from jobs.reconcile import RETRIED
from jobs.retry_words import NEXT_STEPS, Retry, advice, retry_of
from jobs.states import JobState
from tests import builders as make
from tests.cast import cast, cast_rows

__all__ = ["cast", "cast_rows"]

FAILS = [reason for reason in Reason if reason.kind is Kind.FAILURE or reason in (Reason.TIME_LIMIT, Reason.MAX_WAIT)]


@pytest.mark.parametrize("reason", FAILS)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_failure_says_whether_it_is_retried_and_the_next_step(reason, language):
    with translation.override(language):
        said = advice(reason, 1, 1)
        assert str(NEXT_STEPS[reason]) in said
    if language == "en":
        assert said.startswith("Not tried again by itself: ")


def test_only_what_the_platform_retries_is_said_to_be_retried():
    assert {reason for reason in FAILS if retry_of(reason) is Retry.AUTO} == RETRIED
    assert advice("NodeLost", 3, 3).startswith("Tried again by itself; attempt 3 of 3 was the last.")
    assert advice("MemoryLimit", 1, 3).startswith("Not tried again by itself: unchanged, it would end the same way.")
    assert "Lower what it asks for" in advice("AboveLargestNode", 1, 1)


def test_out_of_memory_says_so_on_the_card_and_in_the_api(cast):
    facts = {"max": make.GIB, "resource": "memory"}
    job = make.make_job(cast.alpha, cast.member, state=JobState.FAILED, reason="MemoryLimit", facts=facts)
    client = Client()
    client.force_login(cast.member)
    page = client.get(f"/jobs/{job.pk}").content.decode()
    assert "unchanged, it would end the same way. Ask for more memory" in page
    answer = client.get(f"/api/v1/jobs/{job.pk}").json()
    assert answer["retry"] == "change" and "Ask for more memory" in answer["next_step"]
    waiting = make.make_job(cast.alpha, cast.member)
    assert client.get(f"/api/v1/jobs/{waiting.pk}").json()["retry"] is None
