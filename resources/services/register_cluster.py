"""Register a cluster that needs no connection: this machine, or a simulated one."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from resources.credentials import KUBERNETES
from resources.drivers.registry import FACTORIES
from resources.inputs import checked, taken
from resources.models import Cluster
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

LOCAL = "local"
"""The driver of this machine."""


@transaction.atomic
def register_cluster(
    *,
    actor: User | None,
    key: str,
    name: str,
    driver: str,
    now: datetime,
    location: str = "",
    maintainer: str = "",
    note: str = "",
) -> Cluster:
    """The cluster. Its nodes appear with the next inventory pass.

    The installation itself (no actor) gets the cluster that is there; a person is told that the key is taken.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
        _require_driver(driver)
        _require_no_connection(driver)
        _require_another_machine(driver)
    said = checked(key=key, title=name, location=location, maintainer=maintainer, note=note)
    because = said["note"]
    facts = {"name": said["title"], "driver": driver, "location": said["location"], "maintainer": said["maintainer"]}
    cluster, created = Cluster.objects.get_or_create(key=said["key"], defaults={**facts, "created_at": now})
    if created:
        after = {"key": key, **facts}
        record_audit(actor=actor, verb="cluster.attached", target=cluster, after=after, note=because, now=now)
    elif actor is not None:
        raise taken("key", key)
    return cluster


def _require_driver(driver: str) -> None:
    if driver not in FACTORIES:
        message = _("This installation has no driver {driver}. There is: {known}.")
        facts = {"driver": driver[:40], "known": ", ".join(sorted(FACTORIES))}
        raise Invalid.of(FieldError("driver", "UnknownDriver", message, facts))


def _require_no_connection(driver: str) -> None:
    if driver == KUBERNETES:
        message = _("A Kubernetes cluster is attached with its server and credentials: give them too.")
        raise Invalid.of(FieldError("driver", "ConnectionMissing", message, {}))


def _require_another_machine(driver: str) -> None:
    """This machine is one cluster: registered twice it would be counted twice."""
    there = Cluster.objects.filter(driver=LOCAL).first() if driver == LOCAL else None
    if there is not None:
        message = _("This machine is registered already, as {key}.")
        raise Invalid.of(FieldError("driver", "MachineRegistered", message, {"key": there.key}))
