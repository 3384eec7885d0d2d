"""What exists and what it costs."""

from resources.models.catalogue import DataSource, RateVersion, ResourceClass, Runtime
from resources.models.fleet import CapacitySegment, Cluster, Device, DeviceGroup, Node, Pool
from resources.models.permissions import PoolGroupPermission, PoolUserPermission

__all__ = [
    "CapacitySegment",
    "Cluster",
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
]
