"""The job as its user sees it, its attempts, and what happened to it.

Only `jobs.services.transition` writes `Job.state`.
"""

import uuid

from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone

from jobs.models.template import TemplateVersion
from jobs.states import FINAL, JobState
from resources.models import Cluster, Node
from resources.task_types import TASK_TYPES
from tenants.models import Project, User

ACTIVE_STATES = [state.value for state in JobState if state not in FINAL]


class Job(models.Model):
    """One piece of work a person asked for. A requeue is a new Attempt; "run again" is a new Job."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="jobs")
    submitter = models.ForeignKey(User, on_delete=models.PROTECT, related_name="jobs")
    template_version = models.ForeignKey(TemplateVersion, on_delete=models.PROTECT, related_name="jobs")
    name = models.CharField(max_length=200)
    task_type = models.CharField(max_length=20)
    state = models.CharField(max_length=12)
    # The one dominant reason of now, with its numbers; every change of it is a JobEvent.
    reason = models.CharField(max_length=60, blank=True)
    facts = models.JSONField(default=dict, blank=True)
    reason_at = models.DateTimeField()
    params = models.JSONField(default=dict, blank=True)
    # Ways to run it in order of preference, in the scheduler's words:
    # [{"key": …, "pod_sets": [{"name": …, "count": n, "lines": [[class, resource, amount], …]}]}]
    alternatives = models.JSONField(default=list)
    inputs = models.JSONField(default=list, blank=True)  # [{"variable": …, "artifact": id}]
    pool_keys = models.JSONField(default=list)  # chosen by the user; none: any the project is granted
    runtime_key = models.CharField(max_length=63, blank=True)
    gang = models.BooleanField(default=True)
    priority_class = models.CharField(max_length=20)
    priority = models.IntegerField(default=0)
    time_limit_ms = models.BigIntegerField(null=True, blank=True)
    max_wait_ms = models.BigIntegerField(null=True, blank=True)
    grace_ms = models.BigIntegerField(default=10_000)
    max_attempts = models.IntegerField(default=1)
    excluded_nodes = models.JSONField(default=list, blank=True)
    # The node it is to show fit for others' jobs: it runs there or nowhere, and its size was not asked for by a person.
    validates = models.ForeignKey(Node, null=True, blank=True, on_delete=models.PROTECT, related_name="validations")
    # The generation of the current or next attempt; fences every act on a cluster.
    generation = models.IntegerField(default=1)
    run_again_of = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="reruns")
    submitted_at = models.DateTimeField()  # t0
    eligible_at = models.DateTimeField(null=True, blank=True)  # t1
    # What STOPPING should lead to: the state and reason recorded when the stop was asked for.
    stop_to = models.CharField(max_length=12, blank=True)
    stops_for = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="stopped")
    # The pool in which others were stopped for it, and when: what they give back is its, until it is admitted.
    claims_pool = models.CharField(max_length=63, blank=True)
    claims_since = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    archive_note = models.CharField(max_length=300, blank=True)

    access_via = "project"

    class Meta:
        ordering = ["-submitted_at", "id"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(state__in=[s.value for s in JobState]), name="job_state_known"),
            models.CheckConstraint(condition=Q(task_type__in=TASK_TYPES), name="job_task_type_known"),
            models.CheckConstraint(
                condition=(Q(time_limit_ms__isnull=True) | Q(time_limit_ms__gt=0)) & Q(generation__gte=1),
                name="job_limits_sane",
            ),
            models.UniqueConstraint(
                fields=["validates"], condition=Q(state__in=ACTIVE_STATES), name="job_validates_one_at_a_time"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "submitted_at"], name="job_state", condition=Q(state__in=ACTIVE_STATES)),
            models.Index(fields=["project", "-submitted_at"], name="job_project"),
            models.Index(fields=["submitter", "-submitted_at"], name="job_submitter"),
            models.Index(fields=["archived_at"], name="job_unarchived", condition=Q(archived_at__isnull=True)),
            models.Index(fields=["-submitted_at", "id"], name="job_newest"),
            models.Index(fields=["reason", "-submitted_at"], name="job_reason"),
            models.Index(fields=["task_type", "-submitted_at"], name="job_task_type"),
            GinIndex(fields=["inputs"], name="job_inputs", opclasses=["jsonb_path_ops"]),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def ref(self) -> str:
        """The short name people say: j- and eight hex digits of the key."""
        return f"j-{self.id.hex[:8]}"

    @property
    def is_final(self) -> bool:
        """True once the job will never run again."""
        return JobState(self.state) in FINAL


class Attempt(models.Model):
    """One try of a job on one cluster; at most one of a job is active. Times are t2..t8 of metering.md."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    number = models.IntegerField()  # the generation it was made for
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="attempts")
    pool_key = models.CharField(max_length=63)
    workload_name = models.CharField(max_length=52, unique=True)
    # [{"index": 0, "node": name, "cpu": milli, "memory": bytes, "devices": {resource_name: [uuid]}}]
    placement = models.JSONField(default=list)
    why_here = models.JSONField(default=dict, blank=True)
    # How its pods are written: what of its pool's rules was set when it was admitted.
    pod_rules = models.JSONField(default=dict, blank=True)
    price_micro_hour = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=10, blank=True)
    reserved_at = models.DateTimeField()  # t2
    admitted_at = models.DateTimeField()  # t3
    bound_at = models.DateTimeField(null=True, blank=True)  # t4
    started_at = models.DateTimeField(null=True, blank=True)  # t5
    ready_at = models.DateTimeField(null=True, blank=True)  # t6
    stopped_at = models.DateTimeField(null=True, blank=True)  # t7
    released_at = models.DateTimeField(null=True, blank=True)  # t8
    # What its cluster said where that cannot have been: {"stopped_at": time}; the column has what stands in its place.
    corrected_times = models.JSONField(default=dict, blank=True)
    # While its logs cannot be read: {"since": first failure, "tried": last one, "logs": [{"member", "node", "cause"}]},
    # and "given_up" once they are no longer asked for.
    log_trouble = models.JSONField(default=dict, blank=True)
    stop_asked_at = models.DateTimeField(null=True, blank=True)
    ended = models.BooleanField(default=False)
    # Released, its logs and outputs kept, forgotten by its cluster: nothing is left to do about it.
    closed = models.BooleanField(default=False)
    resumed = models.BooleanField(default=False)
    runtime_as = models.CharField(max_length=600, null=True, blank=True)  # its runtime then; null: not written down
    addresses = models.JSONField(default=list, blank=True)
    members_seen = models.JSONField(default=list, blank=True)  # last observation, per member
    missing_passes = models.IntegerField(default=0)  # complete lists in a row without it
    exit_code = models.IntegerField(null=True, blank=True)
    end_reason = models.CharField(max_length=60, blank=True)
    end_facts = models.JSONField(default=dict, blank=True)

    access_via = "job__project"

    class Meta:
        ordering = ["job", "number"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="attempt_once"),
            models.UniqueConstraint(fields=["job"], condition=Q(ended=False), name="attempt_one_active"),
        ]
        indexes = [
            models.Index(fields=["cluster"], name="attempt_open", condition=Q(closed=False)),
            models.Index(fields=["pool_key", "job"], name="attempt_pool"),
            models.Index(fields=["end_reason", "stopped_at"], name="attempt_end"),
        ]


class JobEvent(models.Model):
    """What happened to a job, when and why. In the database partitioned by month of `at`, key (at, id)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    recorded_at = models.DateTimeField(default=timezone.now)
    kind = models.CharField(max_length=20)  # state, reason, attempt, release, archive
    old = models.CharField(max_length=12, blank=True)
    new = models.CharField(max_length=12, blank=True)
    reason = models.CharField(max_length=60, blank=True)
    facts = models.JSONField(default=dict, blank=True)
    attempt_id = models.UUIDField(null=True)
    cycle_id = models.UUIDField(null=True)
    actor_id = models.UUIDField(null=True)
    actor_name = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["at", "recorded_at", "id"]
        default_permissions = ()
        indexes = [models.Index(fields=["job", "at"], name="event_job")]


class Cycle(models.Model):
    """One pass of the scheduler that changed something, with the digest of the snapshot it decided on."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    at = models.DateTimeField()
    duration_ms = models.IntegerField()
    waiting = models.IntegerField()
    admitted = models.IntegerField()
    snapshot_sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["-at"]
        default_permissions = ()
        indexes = [models.Index(fields=["-at"], name="cycle_at")]


class IdempotencyKey(models.Model):
    """A submit that was already answered: the same key and body give the same job, another body is refused."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=128)
    fingerprint = models.CharField(max_length=64)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="idempotency_once")]
