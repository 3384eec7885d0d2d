"""What exists and what it costs."""

from resources.models.attachment import ClusterCredential, ClusterEndpoint
from resources.models.catalogue import DataSource, RateVersion, ResourceClass, Runtime
from resources.models.cordons import ClusterCordon
from resources.models.declared import ClassEquivalence, ClassFact, VendorRow
from resources.models.fleet import (
    Admission,
    CapacitySegment,
    Cluster,
    CostBasis,
    Device,
    DeviceGroup,
    Node,
    NodeEvent,
    Pool,
)
from resources.models.permissions import PoolGroupPermission, PoolUserPermission

__all__ = [
    "Admission",
    "CapacitySegment",
    "ClassEquivalence",
    "ClassFact",
    "Cluster",
    "ClusterCordon",
    "ClusterCredential",
    "ClusterEndpoint",
    "CostBasis",
    "DataSource",
    "Device",
    "DeviceGroup",
    "Node",
    "NodeEvent",
    "Pool",
    "PoolGroupPermission",
    "PoolUserPermission",
    "RateVersion",
    "ResourceClass",
    "Runtime",
    "VendorRow",
]
