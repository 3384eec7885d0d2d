"""Background work by task name, on commit: services never import tasks, and nothing runs for a rollback."""

import logging
from collections.abc import Callable

from django.db import transaction
from kombu.exceptions import OperationalError

from portal.celery import app

log = logging.getLogger(__name__)


def enqueue(task: str, *args: str | int) -> None:
    """Send the task once the current transaction commits (at once outside one).

    A broker that is away is logged, not raised: the queue is PostgreSQL, beat will pass by again (rule 6).
    """
    transaction.on_commit(_sender(task, args), robust=True)


def _sender(task: str, args: tuple[str | int, ...]) -> Callable[[], None]:
    def send() -> None:
        try:
            app.send_task(task, args=args, ignore_result=True, expires=60)
        except OperationalError:
            log.warning("broker away, %s%s waits for the next tick", task, args)

    return send
