"""Background work by task name, on commit: services never import tasks, and nothing runs for a rollback."""

import logging
from collections.abc import Callable

from django.core.cache import cache
from django.db import transaction
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from portal.celery import app

log = logging.getLogger(__name__)
PENDING_SECONDS = 2
"""How long one request speaks for those after it should its task never begin: beat passes by about as often."""


def enqueue(task: str, *args: str | int) -> None:
    """Send the task once the current transaction commits (at once outside one), unless it already waits to begin.

    The task says `begun` first thing. A broker that is away is logged, not raised: the queue is PostgreSQL, beat
    will pass by again (rule 6).
    """
    transaction.on_commit(_sender(task, args), robust=True)


def begun(task: str, *args: str | int) -> None:
    """The task begins now: it may miss what is asked for from here on, which is therefore sent again."""
    try:
        cache.delete(_pending(task, args))
    except RedisError:
        log.warning("broker away, %s%s may have to wait for the next tick", task, args)


def _sender(task: str, args: tuple[str | int, ...]) -> Callable[[], None]:
    def send() -> None:
        try:
            if cache.add(_pending(task, args), 1, timeout=PENDING_SECONDS):
                app.send_task(task, args=args, ignore_result=True, expires=60)
        except (OperationalError, RedisError):
            log.warning("broker away, %s%s waits for the next tick", task, args)

    return send


def _pending(task: str, args: tuple[str | int, ...]) -> str:
    return ":".join(map(str, ("pending", task, *args)))
