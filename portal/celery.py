"""Celery is only the clock: short idempotent tasks, ids only; the queue of jobs is PostgreSQL (rule 6)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

app = Celery("portal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

CYCLE_QUEUE = "cycle"
IO_QUEUE = "io"

BEAT_SCHEDULE: dict[str, dict[str, object]] = {
    "cycle": {"task": "jobs.run_cycle", "schedule": 2.0, "options": {"expires": 2}},
    "reconcile": {"task": "jobs.reconcile_all", "schedule": 1.0, "options": {"expires": 1}},
    "listen": {"task": "jobs.listen", "schedule": 5.0, "options": {"expires": 5}},
    "validation": {"task": "jobs.validate_nodes", "schedule": 5.0, "options": {"expires": 5}},
    "health": {"task": "jobs.judge_health", "schedule": 30.0, "options": {"expires": 30}},
    "inventory": {"task": "resources.sync_all", "schedule": 15.0, "options": {"expires": 15}},
    "permissions": {"task": "resources.review_all", "schedule": 60.0, "options": {"expires": 60}},
    "usage": {"task": "metering.record_usage", "schedule": 10.0, "options": {"expires": 10}},
    "notices": {"task": "tenants.fan_out", "schedule": 5.0, "options": {"expires": 5}},
    "old_notices": {"task": "tenants.prune_notices", "schedule": 3600.0, "options": {"expires": 3600}},
    "partitions": {"task": "tenants.ensure_partitions", "schedule": 3600.0, "options": {"expires": 3600}},
}

app.conf.beat_schedule = BEAT_SCHEDULE
app.conf.task_default_queue = IO_QUEUE
app.conf.task_routes = {"jobs.run_cycle": {"queue": CYCLE_QUEUE}}
