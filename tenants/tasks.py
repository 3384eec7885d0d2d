"""Celery's way into tenants."""

from celery import shared_task

from portal.lib.clock import utc_now
from portal.lib.partitions import ensure_partitions
from portal.lib.queue import begun
from tenants.services.fan_out import fan_out
from tenants.services.prune_notices import prune_notices


@shared_task(name="tenants.ensure_partitions")
def make_partitions() -> None:
    """Monthly partitions for the coming months."""
    ensure_partitions(utc_now())


@shared_task(name="tenants.fan_out")
def fan_out_task() -> None:
    """Tell people what the outbox holds."""
    begun("tenants.fan_out")
    fan_out(now=utc_now())


@shared_task(name="tenants.prune_notices")
def prune_notices_task() -> None:
    """Keep inboxes and the outbox bounded."""
    prune_notices(now=utc_now())
