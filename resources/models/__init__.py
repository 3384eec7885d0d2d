"""What exists and what it costs."""

from resources.models.attachment import ClusterCredential, ClusterEndpoint
from resources.models.catalogue import DataSource, RateVersion, ResourceClass, Runtime
from resources.models.declared import ClassEquivalence, ClassFact, VendorRow
from resources.models.fleet import CapacitySegment, Cluster, Device, DeviceGroup, Node, Pool
from resources.models.permissions import PoolGroupPermission, PoolUserPermission

__all__ = [
    "CapacitySegment",
    "ClassEquivalence",
    "ClassFact",
    "Cluster",
    "ClusterCredential",
    "ClusterEndpoint",
    "DataSource",
    "Device",
    "DeviceGroup",
    "Node",
    "Pool",
    "PoolGroupPermission",
    "PoolUserPermission",
    "RateVersion",
    "ResourceClass",
    "Runtime",
    "VendorRow",
]
