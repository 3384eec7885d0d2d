"""Wake-ups of the background: one speaks for those after it until its task begins, and none that matters is lost."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.db import transaction
from redis.exceptions import ConnectionError as RedisAway

from portal.lib import queue

TASK = "jobs.run_cycle"


@pytest.fixture
def sent(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, tuple[str | int, ...]]]]:
    """What reached the broker; nothing waits there at first."""
    found: list[tuple[str, tuple[str | int, ...]]] = []
    monkeypatch.setattr(queue.app, "send_task", lambda task, args, **options: found.append((task, args)))
    cache.clear()
    yield found
    cache.clear()


def test_requests_before_a_task_begins_are_one(sent, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(5):
            queue.enqueue(TASK)
    assert sent == [(TASK, ())]


def test_a_request_after_the_task_began_is_sent_again(sent, django_capture_on_commit_callbacks) -> None:
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            queue.enqueue(TASK)
        queue.begun(TASK)
    assert sent == [(TASK, ()), (TASK, ())]


def test_requests_for_different_clusters_do_not_speak_for_each_other(sent, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        queue.enqueue("jobs.reconcile_cluster", "one")
        queue.enqueue("jobs.reconcile_cluster", "two")
    assert sent == [("jobs.reconcile_cluster", ("one",)), ("jobs.reconcile_cluster", ("two",))]


def test_nothing_is_sent_for_a_transaction_that_is_rolled_back(sent, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        try:
            with transaction.atomic():
                queue.enqueue(TASK)
                raise RuntimeError
        except RuntimeError:
            pass
    assert sent == []


def test_a_broker_that_is_away_stops_nobody(sent, django_capture_on_commit_callbacks, monkeypatch) -> None:
    def away(*_arguments: object, **_options: object) -> None:
        raise RedisAway

    monkeypatch.setattr(queue.cache, "add", away)
    monkeypatch.setattr(queue.cache, "delete", away)
    with django_capture_on_commit_callbacks(execute=True):
        queue.enqueue(TASK)
    queue.begun(TASK)
    assert sent == []
