"""The fleet: clusters, nodes, device groups and devices as last seen, pools, and capacity over time."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from resources.models.catalogue import ResourceClass
from tenants.models import Project, Team, User
from tenants.models.people import SCOPE_PERMISSIONS


class Admission(models.TextChoices):
    """How the nodes of a pool come into service."""

    AT_ONCE = "at_once", _("At once")
    VALIDATE = "validate", _("After a validation job")


class Pool(models.Model):
    """Nodes grouped by selector, with the policies that hold for them. Borrowing is off until switched on."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.SlugField(max_length=63, unique=True)
    name = models.JSONField(default=dict)
    selector = models.JSONField(default=dict, blank=True)  # node labels that must match
    labels = models.JSONField(default=dict, blank=True)
    borrowing = models.BooleanField(default=False)
    environment = models.CharField(max_length=40, blank=True)
    maintainer = models.CharField(max_length=200, blank=True)
    purpose = models.CharField(max_length=300, blank=True)
    owner = models.ForeignKey(Team, null=True, blank=True, on_delete=models.SET_NULL, related_name="pools_owned")
    # Admission: which task types and runtimes may use it; empty is every one.
    task_types = models.JSONField(default=list, blank=True)
    runtimes = models.JSONField(default=list, blank=True)
    # How pods are written for it where its nodes are Kubernetes nodes.
    scheduler_name = models.CharField(max_length=253, blank=True)
    tolerations = models.JSONField(default=list, blank=True)  # [{"key", "value", "effect"}]
    relaxation = models.CharField(max_length=20, blank=True)  # one control of the pod that is relaxed here
    # Whether a node whose driver nobody knows is refused to runtimes that state a range; else it is warned of.
    known_driver_only = models.BooleanField(default=False)
    # How a node comes into service: at once, or once a job of a template has passed there. It runs in a project
    # that pays for it as for any job, in the name of who set the rule.
    admission = models.CharField(max_length=10, choices=Admission.choices, default=Admission.AT_ONCE)
    validation_template = models.SlugField(max_length=63, blank=True)
    validation_project = models.ForeignKey(Project, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    validation_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["key"]
        default_permissions = ()
        permissions = SCOPE_PERMISSIONS

    def __str__(self) -> str:
        return self.key


class CostBasis(models.TextChoices):
    """What a cluster costs its owner."""

    OWNED = "owned", _("owned")
    LEASED = "leased", _("leased")
    CLOUD = "cloud", _("cloud on demand")


class Cluster(models.Model):
    """A place that runs workloads, behind one driver. Stale is shown stale, never as healthy (R-09)."""

    class State(models.TextChoices):
        ATTACHED = "attached", _("Attached")
        PAUSED = "paused", _("Paused")
        DETACHED = "detached", _("Detached")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=200)
    driver = models.CharField(max_length=20)
    location = models.CharField(max_length=200, blank=True)
    maintainer = models.CharField(max_length=200, blank=True)
    cost_basis = models.CharField(max_length=20, choices=CostBasis.choices, default=CostBasis.OWNED)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ATTACHED)
    simulated = models.BooleanField(default=False)
    isolation = models.BooleanField(default=False)
    isolation_detail = models.CharField(max_length=300, blank=True)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    # Its fact sheet by subject: {"presence", "why", "items"}; see drivers.base.Topic.
    facts = models.JSONField(default=dict, blank=True)
    facts_at = models.DateTimeField(null=True, blank=True)
    # How far its clock is ahead of the portal's (negative: behind), known to plus or minus `within`, and when that was
    # measured; null: never.
    clock_ahead_ms = models.BigIntegerField(null=True, blank=True)
    clock_within_ms = models.IntegerField(null=True, blank=True)
    clock_at = models.DateTimeField(null=True, blank=True)
    # Where a pass that ran out of time goes on with the next: the attempt after which, by kind of step.
    pass_marks = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["key"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.key


class Node(models.Model):
    """A node as its cluster last reported it. Capacity is installed, allocatable is what jobs may use."""

    class Stage(models.TextChoices):
        DISCOVERED = "discovered", _("Discovered")
        VALIDATING = "validating", _("Validating")
        SCHEDULABLE = "schedulable", _("Schedulable")
        CORDONED = "cordoned", _("Cordoned")
        DRAINING = "draining", _("Draining")
        UNREACHABLE = "unreachable", _("Unreachable")
        RETIRED = "retired", _("Retired")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="nodes")
    pool = models.ForeignKey(Pool, null=True, blank=True, on_delete=models.SET_NULL, related_name="nodes")
    name = models.CharField(max_length=253)
    stage = models.CharField(max_length=12, choices=Stage.choices, default=Stage.DISCOVERED)
    # What an operator wants of it whatever the cluster says (cordoned, draining, retired); "" is nothing.
    held_stage = models.CharField(max_length=12, blank=True)
    held_by = models.CharField(max_length=200, blank=True)
    held_note = models.CharField(max_length=1_000, blank=True)
    held_at = models.DateTimeField(null=True, blank=True)
    ready = models.BooleanField(default=False)
    reason = models.CharField(max_length=200, blank=True)
    architecture = models.CharField(max_length=20, blank=True)
    os = models.CharField(max_length=60, blank=True)
    labels = models.JSONField(default=dict, blank=True)
    topology = models.JSONField(default=list, blank=True)  # outermost level first
    numa = models.JSONField(default=list, blank=True)
    cpu_milli = models.BigIntegerField()
    cpu_allocatable_milli = models.BigIntegerField()
    memory_bytes = models.BigIntegerField()
    memory_allocatable_bytes = models.BigIntegerField()
    storage_bytes = models.BigIntegerField(null=True, blank=True)
    pods = models.PositiveIntegerField(null=True, blank=True)  # how many fit; none: no bound is known
    # What others than the portal hold there: cpu in milli, memory in bytes, pods, and slots by resource name.
    foreign = models.JSONField(default=dict, blank=True)
    # What the portal itself thinks of it (`stages.Standing`); "" is nothing against it. The proof is why it was let in:
    # {"by": run | hand | before, "at", "facts", …}; the trial is the open or the last validation run, `trial_job` the
    # job of the open one. A quarantine holds until a run passes or a person lifts it; earlier failures count no more.
    standing = models.CharField(max_length=20, blank=True)
    proof = models.JSONField(default=dict, blank=True)
    trial = models.JSONField(default=dict, blank=True)
    trial_job = models.UUIDField(null=True, blank=True)
    quarantine = models.JSONField(default=dict, blank=True)
    health_since = models.DateTimeField(null=True, blank=True)
    reasons = models.JSONField(default=list, blank=True)  # [{"name", "facts"}]; `reason` is the first
    kernel = models.CharField(max_length=120, blank=True)
    container_runtime = models.CharField(max_length=120, blank=True)
    kubelet = models.CharField(max_length=120, blank=True)
    taints = models.JSONField(default=list, blank=True)  # those that keep jobs away
    software = models.JSONField(default=list, blank=True)  # [{"vendor", "part", "version", "source"}]
    companions = models.JSONField(default=list, blank=True)  # [{"resource", "belongs_to", "unit", "total"}]
    network = models.JSONField(default=list, blank=True)  # [{"name", "value", "source", "measured"}]
    # Whether its own cluster has it cordoned, and the mark of the portal's cordon on it, whoever's cordon it is now.
    cluster_cordoned = models.BooleanField(default=False)
    cluster_cordon_mark = models.CharField(max_length=36, blank=True)
    last_seen_at = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["cluster__key", "name"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="node_once"),
            models.CheckConstraint(
                condition=Q(cpu_milli__gte=0)
                & Q(memory_bytes__gte=0)
                & Q(cpu_allocatable_milli__gte=0)
                & Q(memory_allocatable_bytes__gte=0),
                name="node_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(held_stage__in=["", "cordoned", "draining", "retired"]), name="node_held_stage_known"
            ),
            models.UniqueConstraint(fields=["trial_job"], name="node_trial_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def why(self) -> str:
        """The one word for why it takes nothing new, if its stage does not say it: the cluster's, else the portal's."""
        own = "" if self.held_stage or self.stage == self.Stage.VALIDATING else self.standing
        return self.reason or own


class NodeEvent(models.Model):
    """A change of a node's stage, or of what the portal thinks of it: when, from what to what, and why."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField()
    old = models.CharField(max_length=12, blank=True)  # "": it was new
    new = models.CharField(max_length=12)
    cause = models.CharField(max_length=200)
    facts = models.JSONField(default=dict, blank=True)
    actor_name = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        default_permissions = ()
        indexes = [models.Index(fields=["node", "-at"], name="node_event_newest")]


class DeviceGroup(models.Model):
    """Devices of one resource name on a node, counted as the node reports them, in device parts."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="groups")
    resource_class = models.ForeignKey(
        ResourceClass, null=True, blank=True, on_delete=models.PROTECT, related_name="groups"
    )
    resource_name = models.CharField(max_length=253)
    vendor = models.CharField(max_length=60, blank=True)
    kind = models.CharField(max_length=12)
    model = models.CharField(max_length=120, blank=True)
    driver_version = models.CharField(max_length=60, blank=True)
    whole = models.BigIntegerField(default=42_000)
    capacity_parts = models.BigIntegerField()
    allocatable_parts = models.BigIntegerField()
    sharing = models.CharField(max_length=40, blank=True)
    health = models.CharField(max_length=10, blank=True)  # as the whole group is; "" is not observed
    reasons = models.JSONField(default=list, blank=True)  # [{"name", "facts"}]
    verified = models.BooleanField(null=True, blank=True)  # None: read from the machine itself
    physical_total = models.PositiveIntegerField(null=True, blank=True)
    unit = models.CharField(max_length=20, blank=True, default="card")  # what one slot is
    profile = models.CharField(max_length=120, blank=True)
    sources = models.JSONField(default=dict, blank=True)  # fact → the key it was read from
    # Physical cards that its cluster names, where slots are parts of them: [{"id", "slots", "healthy", …}] as
    # `normalize.facts.CardFacts` has them.
    cards = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["resource_name"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["node", "resource_name"], name="group_once"),
            models.CheckConstraint(
                condition=Q(capacity_parts__gte=0) & Q(allocatable_parts__gte=0) & Q(whole__gt=0),
                name="group_not_negative",
            ),
        ]


class Device(models.Model):
    """One physical accelerator of a group, or one slot of it where a card is shared out in slots."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    group = models.ForeignKey(DeviceGroup, on_delete=models.CASCADE, related_name="devices")
    uuid = models.CharField(max_length=120)
    index = models.IntegerField()
    memory_bytes = models.BigIntegerField(null=True, blank=True)
    numa_node = models.IntegerField(null=True, blank=True)
    healthy = models.BooleanField(default=True)
    detail = models.CharField(max_length=300, blank=True)
    card = models.CharField(max_length=120, blank=True)  # which card this slot is a part of; "": nobody says

    class Meta:
        ordering = ["group", "index"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["group", "uuid"], name="device_once")]


class CapacitySegment(models.Model):
    """How much of a resource a node had in one state over [start, end); an open end is now.

    Measured, from observations: the idle lanes of the ledger are read from here, never a remainder.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="capacity_segments")
    class_key = models.CharField(max_length=63)
    resource = models.CharField(max_length=20)
    state = models.CharField(max_length=20)  # schedulable, reserved_by_system, unhealthy, maintenance, no_data
    quantity = models.BigIntegerField()
    start = models.DateTimeField()
    end = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["node", "class_key", "start"]
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(end__isnull=True) | Q(end__gt=F("start")), name="capacity_forward"),
            models.CheckConstraint(condition=Q(quantity__gte=0), name="capacity_not_negative"),
            models.UniqueConstraint(
                fields=["node", "class_key", "resource", "state"],
                condition=Q(end__isnull=True),
                name="capacity_one_open",
            ),
        ]
