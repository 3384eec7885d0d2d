"""What the API shows of what people declare."""

from rest_framework import serializers

from portal.lib.rest.outputs import Moment, Shown, Word, page_of
from resources.declared_inputs import DEVICE_KINDS
from resources.models import ClassFact
from resources.task_types import TASK_TYPES


class FactShown(Shown):
    """A fact of a class: said by people, not measured by the portal."""

    id = serializers.UUIDField()
    topic = Word("FactTopic", ClassFact.Topic.values)
    subject = serializers.CharField()
    amount = serializers.IntegerField(
        allow_null=True, help_text="Operations per second; devices of an island; NUMA nodes of a host."
    )
    support = Word("FactSupport", ("", *ClassFact.Support.values))
    source = serializers.CharField()  # type: ignore[assignment]
    as_of = serializers.DateField()
    declared_at = Moment()


class EquivalenceShown(Shown):
    """One direction, until its end; nothing places jobs by it yet. `in_force` is as of now."""

    id = serializers.UUIDField(source="row.id")
    of = serializers.CharField(source="row.of.key")
    by = serializers.CharField(source="row.by.key")
    task_type = Word("TaskType", TASK_TYPES, source="row.task_type")
    in_force = serializers.BooleanField(source="holds")
    valid_to = Moment(source="row.valid_to")
    evidence = serializers.CharField(source="row.evidence")
    evidence_job = serializers.UUIDField(source="job", allow_null=True, help_text="Where you may see it.")
    declared_at = Moment(source="row.declared_at")
    declared_by = serializers.CharField(source="who")


class VendorRowShown(Shown):
    """What a resource name means here, before what comes with the portal."""

    id = serializers.UUIDField()
    pattern = serializers.CharField()
    vendor = serializers.CharField()
    vendor_name = serializers.CharField()
    kind = Word("DeviceKind", DEVICE_KINDS)
    unit = serializers.CharField()
    model_label = serializers.CharField()
    memory_label = serializers.CharField()
    memory_unit = serializers.IntegerField(help_text="Bytes.")
    driver_label = serializers.CharField()
    changed_at = Moment()


class TolerationShown(Shown):
    """A taint that pods tolerate; null: of any value."""

    key = serializers.CharField()
    value = serializers.CharField(default=None, allow_null=True)
    effect = serializers.CharField()


class PoolRulesShown(Shown):
    """The rules of a pool; empty is every one, or the cluster's own."""

    task_types = serializers.ListField(child=serializers.CharField())
    runtimes = serializers.ListField(child=serializers.CharField())
    scheduler_name = serializers.CharField()
    tolerations = TolerationShown(many=True)
    relaxation = serializers.CharField()
    borrowing = serializers.BooleanField()
    known_driver_only = serializers.BooleanField()


class SharingShown(Shown):
    """A way in which cards of a class are given out, and how many slots of it there are."""

    sharing = serializers.CharField(help_text="empty: not observed.")
    unit = serializers.CharField(help_text="What one slot is.")
    slots = serializers.IntegerField()
    nodes = serializers.IntegerField()


class ClassInPool(Shown):
    """Devices of a class in a pool. `largest_*` is what would start now by free devices; null: not offered."""

    key = serializers.CharField()
    kind = serializers.CharField()
    recognised = serializers.BooleanField()
    devices = serializers.IntegerField()
    nodes = serializers.IntegerField()
    most_on_one = serializers.IntegerField()
    memory_bytes = serializers.IntegerField(allow_null=True)
    drivers = serializers.ListField(child=serializers.CharField())
    sharing = SharingShown(many=True)
    largest_single = serializers.IntegerField(allow_null=True)
    largest_members = serializers.IntegerField(allow_null=True)
    largest_each = serializers.IntegerField(allow_null=True)


class PoolProfileShown(Shown):
    """What a pool can do, told by what is in it."""

    nodes = serializers.IntegerField()
    kinds = serializers.ListField(child=serializers.CharField())
    architectures = serializers.ListField(child=serializers.CharField())
    cluster_kinds = serializers.ListField(child=serializers.CharField())
    classes = ClassInPool(many=True)


FactPage = page_of(FactShown)
EquivalencePage = page_of(EquivalenceShown)
VendorRowPage = page_of(VendorRowShown)
