"""This machine as a cluster and a pool: real processes, whatever else is simulated."""

from datetime import datetime, timedelta

from resources.models import RateVersion, ResourceClass
from resources.models.catalogue import Kind
from resources.services.create_pool import create_pool
from resources.services.declare_runtime import declare_runtime
from resources.services.define_class import define_class
from resources.services.publish_rate import publish_rate
from resources.services.register_cluster import register_cluster

LOCAL = "local"
WEEKS = 8
"""How many whole weeks a demo installation remembers, beside the one under way."""
MONTHS_BACK = 3


def seed_machine(now: datetime) -> None:
    """The cluster, its pool, the classes it has, their rates, and the runtime of the shipped programs."""
    register_cluster(actor=None, key=LOCAL, name="This machine", driver=LOCAL, now=now, maintainer="Mira Okafor")
    create_pool(
        actor=None,
        key=LOCAL,
        name={"en": "This machine", "zh-hans": "本机"},
        selector={"cluster": LOCAL},
        now=now,
        maintainer="Rosa Adeyemi",
    )
    cpu = define_class(actor=None, key="cpu", name={"en": "CPU", "zh-hans": "CPU"}, kind=Kind.CPU, now=now)
    memory = define_class(actor=None, key="memory", name={"en": "Memory", "zh-hans": "内存"}, kind=Kind.MEMORY, now=now)
    seed_rate(cpu, 1_000_000, 1_000_000, now)
    seed_rate(memory, 100_000, 50_000, now)
    declare_runtime(
        actor=None,
        key="python-local",
        name={"en": "Python with numpy, on this machine", "zh-hans": "本机 Python（numpy）"},
        driver_kind=LOCAL,
        kinds=[Kind.CPU],
        framework="numpy",
        version="2.4",
        now=now,
    )


def seed_rate(row: ResourceClass, price: int, weight: int, now: datetime) -> None:
    """A rate from before anything was used, unless the class has one."""
    if not RateVersion.objects.filter(class_key=row.key).exists():
        start = first_of_month(begun(now))
        publish_rate(actor=None, resource_class=row, price_micro=price, weight_micro=weight, valid_from=start, now=now)


def begun(now: datetime) -> datetime:
    """When its past begins: on a Monday, so that every installation tells the same weeks whatever day it is."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(weeks=WEEKS, days=now.weekday())


def founded(now: datetime) -> datetime:
    """When the organisation came about: a day before its past begins."""
    return begun(now) - timedelta(days=1)


def first_of_month(moment: datetime) -> datetime:
    """The beginning of its month, in UTC."""
    return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
