"""Celery's way into metering."""

from celery import shared_task

from metering.services.record_usage import record_usage
from portal.lib.clock import utc_now
from portal.lib.queue import begun


@shared_task(name="metering.record_usage")
def record_usage_task() -> None:
    """Enter what was released since the last pass."""
    begun("metering.record_usage")
    record_usage(now=utc_now())
