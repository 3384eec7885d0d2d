"""The runtime a request is given, or why there is none for it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from jobs.request import Size
from jobs.runtimes import Need, RuntimeOffer, admits, fitting
from jobs.selectors.reach import kind_of
from portal.lib.errors import FieldError, Invalid
from portal.lib.localised import listed, localised
from resources.images import registry_of
from resources.models import Runtime
from resources.runtime_rules import KUBERNETES

if TYPE_CHECKING:
    from jobs.selectors.offers import Offer

NO_POOL = _("No pool this project may use takes jobs of this type: {pools}. Ask for a grant of another pool.")
NONE_FOR_CLASS = _(
    "No runtime is declared for {name} and this type of job. Choose another class, or ask a platform administrator "
    "to declare one under Runtimes."
)
NONE_AT_ALL = _(
    "No runtime of {kind} clusters is declared for this type of job without devices. Ask a platform administrator to "
    "declare one under Runtimes."
)
NONE_WITH_IMAGE = _(
    "This template runs in a container, and no runtime with an image is declared for what it asks for. Ask a platform "
    "administrator to declare one under Runtimes."
)
POOL_REFUSES = _("{pool} does not take jobs in any runtime this one could run in: {names}. Choose another pool.")


def runtimes_of(driver_kind: str) -> tuple[RuntimeOffer, ...]:
    """Those in use for a kind of cluster, by key; without those whose image may no longer come from its registry."""
    rows = Runtime.objects.filter(driver_kind=driver_kind, retired_at__isnull=True).order_by("key")
    allowed = settings.IMAGE_REGISTRIES
    return tuple(
        RuntimeOffer(
            key=row.key,
            kinds=tuple(row.kinds),
            classes=tuple(one.key for one in row.classes.all()),
            task_types=tuple(row.task_types),
            image=row.image,
        )
        for row in rows.prefetch_related("classes")
        if not row.image or not allowed or registry_of(row.image) in allowed
    )


def choose_runtime(offer: "Offer", spec: Mapping[str, Any], size: Size, pool: str) -> str:
    """The key of the first that is declared for what the job asks and that its pool takes; "" leaves it to a driver
    that needs none. Raises Invalid with the next step (R-23)."""
    if not offer.pools and offer.refusing:
        pools = listed(localised(one.name, one.key) for one in offer.refusing)
        raise Invalid("PoolRefusesTask", NO_POOL, facts={"pools": pools})
    driver_kind = kind_of(spec)
    row = next((one for one in offer.classes if size.devices and one.key == size.device_class), None)
    need = Need(
        task_type=spec["task_type"],
        device_class=row.key if row else "",
        kind=row.kind if row else "CPU",
        image=driver_kind == KUBERNETES,
    )
    fit = fitting(offer.runtimes, need)
    if not fit and (offer.runtimes or need.image):
        raise _none(need, driver_kind, localised(row.name, row.key) if row else "")
    return _taken_by_pool(offer, need, [one.key for one in fit] or [""], pool)


def _taken_by_pool(offer: "Offer", need: Need, keys: list[str], pool: str) -> str:
    pools = [one for one in offer.pools if pool in ("", one.key)]
    for key in keys:
        if not pools or any(admits(one.task_types, one.runtimes, need.task_type, key) for one in pools):
            return key
    names = listed(localised(one.name, one.key) for one in pools)
    runtimes = listed(key or "–" for key in keys)
    raise Invalid.of(FieldError("pool", "PoolRefusesRuntime", POOL_REFUSES, {"pool": names, "names": runtimes}))


def _none(need: Need, driver_kind: str, name: str) -> Invalid:
    if need.device_class:
        return Invalid.of(FieldError("device_class", "RuntimeNotDeclared", NONE_FOR_CLASS, {"name": name}))
    if need.image:
        return Invalid("RuntimeNotDeclared", NONE_WITH_IMAGE)
    return Invalid("RuntimeNotDeclared", NONE_AT_ALL, facts={"kind": driver_kind})
