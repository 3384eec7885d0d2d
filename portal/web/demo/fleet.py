"""The simulated fleet of a demo installation: three sites, their pools and classes, rates, grants and quotas."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Model

from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.shipped.rehearsal import DRIVER, TEMPLATES
from portal.web.demo.machine import first_of_month, seed_rate
from portal.web.demo.organisation import ROOT
from portal.web.demo.plan import CLASSES, EDGE, GPU, NPU, OLD, SLICE, SMALL
from resources.drivers.base import WHOLE_DEVICE
from resources.models import Cluster, Pool, RateVersion, ResourceClass
from resources.models.catalogue import Kind
from resources.services.create_pool import create_pool
from resources.services.declare_runtime import declare_runtime
from resources.services.define_class import define_class
from resources.services.publish_rate import publish_rate
from resources.services.register_cluster import register_cluster
from tenants.models import Project, QuotaCell, Team, User
from tenants.roles import Role
from tenants.services.grant_pool import grant_pool
from tenants.services.grant_role import grant_role
from tenants.services.set_quota import set_quota

Words = Mapping[str, str]
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class ClassSpec:
    """A class of devices: how nodes call it, and what a device costs and weighs per hour, in millionths."""

    key: str
    name: Words
    kind: Kind
    match: Words
    price: int
    weight: int


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """A pool: its key, names, and the labels of its nodes."""

    key: str
    name: Words
    selector: Words


SITES = {
    "gpu-hall": ("GPU hall", "Hall 2"),
    "npu-site": ("NPU site", "Hall 5"),
    "edge": ("Edge site", "Substation north"),
}
POOLS = (
    PoolSpec(GPU, {"en": "H100 training", "zh-hans": "H100 训练池"},
             {"cluster": "gpu-hall", "node.kubernetes.io/instance-type": "sxm5-8"}),
    PoolSpec(OLD, {"en": "A100 general", "zh-hans": "A100 通用池"},
             {"cluster": "gpu-hall", "node.kubernetes.io/instance-type": "sxm4-8"}),
    PoolSpec(SLICE, {"en": "GPU slices", "zh-hans": "GPU 切片池"},
             {"cluster": "gpu-hall", "nvidia.com/mig.strategy": "mixed"}),
    PoolSpec(NPU, {"en": "NPU training", "zh-hans": "NPU 训练池"},
             {"cluster": "npu-site", "accelerator": "huawei-Ascend910"}),
    PoolSpec(SMALL, {"en": "NPU inference", "zh-hans": "NPU 推理池"},
             {"cluster": "npu-site", "accelerator": "huawei-Ascend310P"}),
    PoolSpec(EDGE, {"en": "Edge CPU", "zh-hans": "边缘 CPU 池"}, {"cluster": "edge"}),
)  # fmt: skip
DEVICE_CLASSES = (
    ClassSpec(CLASSES[GPU], {"en": "H100 80 GB", "zh-hans": "H100 80 GB"}, Kind.GPU,
              {"resource_name": "nvidia.com/gpu", "model": "NVIDIA H100 80GB HBM3"}, 24 * MICRO, 24 * MICRO),
    ClassSpec(CLASSES[OLD], {"en": "A100 80 GB", "zh-hans": "A100 80 GB"}, Kind.GPU,
              {"resource_name": "nvidia.com/gpu", "model": "NVIDIA A100-SXM4-80GB"}, 12 * MICRO, 10 * MICRO),
    ClassSpec(CLASSES[SLICE], {"en": "GPU slice 10 GB", "zh-hans": "GPU 切片 10 GB"}, Kind.GPU,
              {"resource_name": "nvidia.com/mig-1g.10gb"}, 2 * MICRO, 3 * MICRO // 2),
    ClassSpec(CLASSES[NPU], {"en": "Ascend 910B 64 GB", "zh-hans": "昇腾 910B 64 GB"}, Kind.NPU,
              {"resource_name": "huawei.com/Ascend910"}, 9 * MICRO, 9 * MICRO),
    ClassSpec(CLASSES[SMALL], {"en": "Ascend 310P 21 GB", "zh-hans": "昇腾 310P 21 GB"}, Kind.NPU,
              {"resource_name": "huawei.com/Ascend310P"}, 2 * MICRO, 2 * MICRO),
)  # fmt: skip
ENVIRONMENTS = {"assistant": "production"}
# Pool -> who may use it.
GRANTED: Mapping[str, tuple[str, ...]] = {
    GPU: ("models", "assistant"),
    OLD: ("models", "vision", "assistant"),
    SLICE: ("models", "imaging", "systems"),
    NPU: ("mapping", "forecasting"),
    SMALL: ("mapping", "systems"),
    EDGE: (ROOT,),
}
# Tenant, pool -> devices guaranteed, nominal and at most.
QUOTAS: Mapping[tuple[str, str], tuple[int | None, int | None, int | None]] = {
    ("models", GPU): (24, 36, 40),
    ("inspection", GPU): (8, 24, 32),
    ("corpus", GPU): (8, 24, None),
    ("assistant", GPU): (0, 8, 8),
    ("models", OLD): (8, 24, 32),
    ("vision", OLD): (32, 32, 40),
    ("assistant", OLD): (0, 16, 24),
    ("mapping", NPU): (16, 32, 40),
    ("forecasting", NPU): (16, 32, None),
}


def seed_rules(scopes: Mapping[str, Model], *, start: datetime, now: datetime) -> None:
    """Sites that are not attached yet, and all the rules of their use. Idempotent; all of it holds from `start`."""
    for key, (name, location) in SITES.items():
        _site(key, name, location, start)
    for pool in POOLS:
        create_pool(
            actor=None, key=pool.key, name=pool.name, selector=pool.selector, now=start, maintainer="Rosa Adeyemi"
        )
    # Two pools lend what lies idle; the others keep to their quotas.
    Pool.objects.filter(key__in=(OLD, NPU)).update(borrowing=True)
    for spec in DEVICE_CLASSES:
        _class(spec, now)
    _new_price(CLASSES[GPU], 26 * MICRO, now)
    declare_runtime(
        actor=None,
        key="rehearsal",
        name={"en": "Rehearsal on a simulated cluster", "zh-hans": "模拟集群上的演练环境"},
        driver_kind=DRIVER,
        kinds=[Kind.CPU, Kind.GPU, Kind.NPU],
        framework="",
        version="",
        now=start,
    )
    publish_shipped_templates(now=start, templates=TEMPLATES)
    _grants(scopes, start)
    _quotas(scopes, start)
    _pool_admins(start)


def _site(key: str, name: str, location: str, now: datetime) -> None:
    if Cluster.objects.filter(key=key).exists():
        return
    cluster = register_cluster(
        actor=None, key=key, name=name, driver=DRIVER, now=now, location=location, maintainer="Rosa Adeyemi"
    )
    # Nobody looks at it, and nothing is placed there, before its past is complete.
    Cluster.objects.filter(pk=cluster.pk).update(state=Cluster.State.DETACHED, simulated=True)


def _class(spec: ClassSpec, now: datetime) -> None:
    row = define_class(actor=None, key=spec.key, name=spec.name, kind=spec.kind, match=spec.match, now=now)
    seed_rate(row, spec.price, spec.weight, now)


def _new_price(key: str, price: int, now: datetime) -> None:
    """A dearer rate from this month on: what was used before keeps the one of its day."""
    row = ResourceClass.objects.get(key=key)
    if RateVersion.objects.filter(class_key=key).count() == 1:
        weight = RateVersion.objects.get(class_key=key).weight_micro
        publish_rate(
            actor=None,
            resource_class=row,
            price_micro=price,
            weight_micro=weight,
            valid_from=first_of_month(now),
            now=now,
        )


def _grants(scopes: Mapping[str, Model], start: datetime) -> None:
    for pool, tenants in GRANTED.items():
        for slug in tenants:
            tenant = scopes[slug]
            assert isinstance(tenant, Team | Project)
            if not tenant.grants.filter(pool_key=pool).exists():
                grant_pool(actor=None, tenant=tenant, pool_key=pool, valid_from=start, now=start)


def _quotas(scopes: Mapping[str, Model], start: datetime) -> None:
    for (slug, pool), amounts in QUOTAS.items():
        tenant = scopes[slug]
        assert isinstance(tenant, Team | Project)
        known = {"team" if isinstance(tenant, Team) else "project": tenant}
        if QuotaCell.objects.filter(**known, pool_key=pool, class_key=CLASSES[pool]).exists():
            continue
        guarantee, nominal, ceiling = (None if n is None else n * WHOLE_DEVICE for n in amounts)
        set_quota(
            actor=None,
            tenant=tenant,
            pool_key=pool,
            class_key=CLASSES[pool],
            resource="device",
            guarantee=guarantee,
            nominal=nominal,
            ceiling=ceiling,
            now=start,
        )


def _pool_admins(now: datetime) -> None:
    user = User.objects.filter(username="pooladmin").first()
    for pool in Pool.objects.filter(key__in=[spec.key for spec in POOLS]):
        if user is not None:
            grant_role(actor=None, user=user, role=Role.POOL_ADMIN, scope=pool, now=now)
