"""Celery's way into tenants."""

from celery import shared_task

from portal.lib.clock import utc_now
from portal.lib.partitions import ensure_partitions


@shared_task(name="tenants.ensure_partitions")
def make_partitions() -> None:
    """Monthly partitions for the coming months."""
    ensure_partitions(utc_now())
