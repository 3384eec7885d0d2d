import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("resources", "0001_initial"),
        ("tenants", "0002_audit"),
    ]

    operations = [
        migrations.CreateModel(
            name="JobTemplate",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=63, unique=True)),
                (
                    "project",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="templates",
                        to="tenants.project",
                    ),
                ),
                ("task_type", models.CharField(max_length=20)),
                ("retired_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "ordering": ["slug"],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "task_type__in",
                                (
                                    "training",
                                    "fine_tuning",
                                    "inference",
                                    "data_processing",
                                    "batch",
                                    "experiment",
                                    "evaluation",
                                ),
                            )
                        ),
                        name="template_task_type_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TemplateVersion",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "template",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="jobs.jobtemplate"
                    ),
                ),
                ("number", models.IntegerField()),
                ("spec", models.JSONField()),
                ("published_at", models.DateTimeField()),
                (
                    "published_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["template", "-number"],
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("template", "number"), name="template_version_once")],
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to="tenants.project"
                    ),
                ),
                (
                    "submitter",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "template_version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to="jobs.templateversion"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("task_type", models.CharField(max_length=20)),
                ("state", models.CharField(max_length=12)),
                ("reason", models.CharField(blank=True, max_length=60)),
                ("facts", models.JSONField(blank=True, default=dict)),
                ("reason_at", models.DateTimeField()),
                ("params", models.JSONField(blank=True, default=dict)),
                ("alternatives", models.JSONField(default=list)),
                ("inputs", models.JSONField(blank=True, default=list)),
                ("pool_keys", models.JSONField(default=list)),
                ("runtime_key", models.CharField(blank=True, max_length=63)),
                ("gang", models.BooleanField(default=True)),
                ("priority_class", models.CharField(max_length=20)),
                ("priority", models.IntegerField(default=0)),
                ("time_limit_ms", models.BigIntegerField(blank=True, null=True)),
                ("max_wait_ms", models.BigIntegerField(blank=True, null=True)),
                ("grace_ms", models.BigIntegerField(default=10000)),
                ("max_attempts", models.IntegerField(default=1)),
                ("excluded_nodes", models.JSONField(blank=True, default=list)),
                ("generation", models.IntegerField(default=1)),
                (
                    "run_again_of",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="reruns",
                        to="jobs.job",
                    ),
                ),
                ("submitted_at", models.DateTimeField()),
                ("eligible_at", models.DateTimeField(blank=True, null=True)),
                ("stop_to", models.CharField(blank=True, max_length=12)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("archive_note", models.CharField(blank=True, max_length=300)),
            ],
            options={
                "ordering": ["-submitted_at", "id"],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(
                            ("state__in", ["HELD", "QUEUED", "ADMITTED", "STARTING", "RUNNING", "STOPPING"])
                        ),
                        fields=["state", "submitted_at"],
                        name="job_state",
                    ),
                    models.Index(fields=["project", "-submitted_at"], name="job_project"),
                    models.Index(fields=["submitter", "-submitted_at"], name="job_submitter"),
                    models.Index(
                        condition=models.Q(("archived_at__isnull", True)), fields=["archived_at"], name="job_unarchived"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "HELD",
                                    "QUEUED",
                                    "ADMITTED",
                                    "STARTING",
                                    "RUNNING",
                                    "STOPPING",
                                    "SUCCEEDED",
                                    "FAILED",
                                    "CANCELLED",
                                ],
                            )
                        ),
                        name="job_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "task_type__in",
                                (
                                    "training",
                                    "fine_tuning",
                                    "inference",
                                    "data_processing",
                                    "batch",
                                    "experiment",
                                    "evaluation",
                                ),
                            )
                        ),
                        name="job_task_type_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("time_limit_ms__isnull", True), ("time_limit_ms__gt", 0), _connector="OR"),
                            ("generation__gte", 1),
                        ),
                        name="job_limits_sane",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="attempts", to="jobs.job"
                    ),
                ),
                ("number", models.IntegerField()),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="attempts", to="resources.cluster"
                    ),
                ),
                ("pool_key", models.CharField(max_length=63)),
                ("workload_name", models.CharField(max_length=52, unique=True)),
                ("placement", models.JSONField(default=list)),
                ("why_here", models.JSONField(blank=True, default=dict)),
                ("price_micro_hour", models.BigIntegerField(blank=True, null=True)),
                ("currency", models.CharField(blank=True, max_length=10)),
                ("reserved_at", models.DateTimeField()),
                ("admitted_at", models.DateTimeField()),
                ("bound_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ready_at", models.DateTimeField(blank=True, null=True)),
                ("stopped_at", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                ("stop_asked_at", models.DateTimeField(blank=True, null=True)),
                ("ended", models.BooleanField(default=False)),
                ("closed", models.BooleanField(default=False)),
                ("resumed", models.BooleanField(default=False)),
                ("addresses", models.JSONField(blank=True, default=list)),
                ("members_seen", models.JSONField(blank=True, default=list)),
                ("missing_passes", models.IntegerField(default=0)),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                ("end_reason", models.CharField(blank=True, max_length=60)),
                ("end_facts", models.JSONField(blank=True, default=dict)),
            ],
            options={
                "ordering": ["job", "number"],
                "default_permissions": (),
                "indexes": [
                    models.Index(condition=models.Q(("closed", False)), fields=["cluster"], name="attempt_open")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("job", "number"), name="attempt_once"),
                    models.UniqueConstraint(
                        condition=models.Q(("ended", False)), fields=("job",), name="attempt_one_active"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="JobEvent",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="events", to="jobs.job"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("recorded_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("kind", models.CharField(max_length=20)),
                ("old", models.CharField(blank=True, max_length=12)),
                ("new", models.CharField(blank=True, max_length=12)),
                ("reason", models.CharField(blank=True, max_length=60)),
                ("facts", models.JSONField(blank=True, default=dict)),
                ("attempt_id", models.UUIDField(null=True)),
                ("cycle_id", models.UUIDField(null=True)),
                ("actor_id", models.UUIDField(null=True)),
                ("actor_name", models.CharField(blank=True, max_length=200)),
            ],
            options={
                "ordering": ["at", "recorded_at", "id"],
                "default_permissions": (),
                "indexes": [models.Index(fields=["job", "at"], name="event_job")],
            },
        ),
        migrations.CreateModel(
            name="Cycle",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("duration_ms", models.IntegerField()),
                ("waiting", models.IntegerField()),
                ("admitted", models.IntegerField()),
                ("snapshot_sha256", models.CharField(max_length=64)),
            ],
            options={
                "ordering": ["-at"],
                "default_permissions": (),
                "indexes": [models.Index(fields=["-at"], name="cycle_at")],
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("key", models.CharField(max_length=128)),
                ("fingerprint", models.CharField(max_length=64)),
                (
                    "job",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"),
                ),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("user", "key"), name="idempotency_once")],
            },
        ),
        migrations.CreateModel(
            name="Allocation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="allocations", to="jobs.attempt"
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="allocations", to="tenants.project"
                    ),
                ),
                ("pool_key", models.CharField(max_length=63)),
                ("step", models.IntegerField(default=0)),
                ("state", models.CharField(max_length=10)),
                ("reserved_at", models.DateTimeField()),
                ("bound_at", models.DateTimeField(blank=True, null=True)),
                ("releasing_at", models.DateTimeField(blank=True, null=True)),
                ("released_at", models.DateTimeField(blank=True, null=True)),
                ("leaked_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["reserved_at", "id"],
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["RESERVED", "BOUND", "RELEASING", "LEAKED"])),
                        fields=["project"],
                        name="allocation_holding",
                    ),
                    models.Index(fields=["released_at"], name="allocation_released"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["RESERVED", "BOUND", "RELEASING", "RELEASED", "LEAKED"])),
                        name="allocation_state_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("released_at__isnull", True),
                            ("released_at__gte", models.F("reserved_at")),
                            _connector="OR",
                        ),
                        name="allocation_forward",
                    ),
                    models.UniqueConstraint(fields=("attempt", "step"), name="allocation_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AllocationLine",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "allocation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lines", to="jobs.allocation"
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="lines", to="resources.node"
                    ),
                ),
                ("member", models.IntegerField()),
                ("class_key", models.CharField(max_length=63)),
                ("resource", models.CharField(max_length=20)),
                ("quantity", models.BigIntegerField()),
            ],
            options={
                "ordering": ["member", "class_key"],
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("quantity__gt", 0)), name="line_positive"),
                    models.UniqueConstraint(fields=("allocation", "member", "class_key", "resource"), name="line_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="DeviceHold",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "line",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holds", to="jobs.allocationline"
                    ),
                ),
                (
                    "device",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="holds", to="resources.device"
                    ),
                ),
                ("parts", models.BigIntegerField()),
                ("exclusive", models.BooleanField()),
                ("released", models.BooleanField(default=False)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("parts__gt", 0)), name="hold_positive"),
                    models.UniqueConstraint(
                        condition=models.Q(("exclusive", True), ("released", False)),
                        fields=("device",),
                        name="device_held_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReleaseRecord",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "allocation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="release", to="jobs.allocation"
                    ),
                ),
                ("stopped_at", models.DateTimeField()),
                ("objects_gone_at", models.DateTimeField(blank=True, null=True)),
                ("objects_evidence", models.JSONField(blank=True, default=dict)),
                ("capacity_free_at", models.DateTimeField(blank=True, null=True)),
                ("capacity_evidence", models.JSONField(blank=True, default=dict)),
                ("device_state", models.CharField(default="not_observed", max_length=12)),
                ("device_idle_at", models.DateTimeField(blank=True, null=True)),
                ("device_evidence", models.JSONField(blank=True, default=dict)),
                ("quota_returned_at", models.DateTimeField(blank=True, null=True)),
                ("slot_returned_at", models.DateTimeField(blank=True, null=True)),
                ("temporary_files", models.IntegerField(blank=True, null=True)),
                ("temporary_bytes", models.BigIntegerField(blank=True, null=True)),
                ("temporary_removed_at", models.DateTimeField(blank=True, null=True)),
                ("completed_at", models.DateTimeField(blank=True, null=True)),
                ("leaked_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="Artifact",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="artifacts", to="tenants.project"
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="artifacts", to="jobs.job"
                    ),
                ),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="artifacts", to="jobs.attempt"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("kind", models.CharField(max_length=20)),
                ("location", models.CharField(max_length=1000)),
                ("bytes", models.BigIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("keep_until", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("deleted_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["-created_at", "name"],
                "default_permissions": (),
                "indexes": [models.Index(fields=["project", "kind", "-created_at"], name="artifact_kind")],
                "constraints": [models.UniqueConstraint(fields=("attempt", "name"), name="artifact_once")],
            },
        ),
    ]
