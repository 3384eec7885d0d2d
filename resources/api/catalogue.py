"""The catalogue: classes with their rates, data sources; devices one by one."""

from collections.abc import Sequence
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.selectors.held import holders_of, parts_of_devices
from metering.rate_words import effects_of_rate
from portal.lib.change_form import Effect
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.rest.paging import PageQuery, page
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from resources.api.bodies import ClassChange, ClassesQuery, DevicesQuery, FleetReason, MatchTry, NewClass, NewRate
from resources.api.shapes import (
    ClassPage,
    ClassShown,
    DataPage,
    DevicePage,
    GroupMovesShown,
    RatePage,
    RateShown,
)
from resources.catalogue_shapes import ClassEntry, class_entries
from resources.models import ResourceClass
from resources.selectors.catalogue import class_looks, classes_matching, data_visible_to
from resources.selectors.devices import DeviceFilter, devices_matching
from resources.selectors.fleet import require_nodes
from resources.selectors.freshness import STALE_AFTER
from resources.selectors.membership import moves_of_match
from resources.selectors.rates import rates_in_force, rates_of
from resources.services.change_class import change_class
from resources.services.define_class import define_class
from resources.services.publish_rate import publish_rate
from resources.services.retire_class import retire_class
from resources.shapes import device_row
from tenants import access
from tenants.rehearsal import preview_of


class Devices(ApiView):
    """Devices of the nodes the reader sees."""

    @endpoint("list_devices", "Devices you see", query=DevicesQuery, gives={200: DevicePage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """One row each, whoever's class they are of or of none."""
        require_nodes(self.actor)
        now, looks = utc_now(), class_looks()
        asked = {name: value for name, value in given.items() if name not in ("cursor", "limit")}
        wanted = DeviceFilter(stale_before=now - STALE_AFTER, **asked)
        found, following = page(devices_matching(self.actor, wanted), ("id",), given)
        held = parts_of_devices(found)
        rows = [device_row(device, device.group.node, held.get(device.pk, 0), looks, now) for device in found]
        return answer(DevicePage, {"results": rows, "next": following}, holders=holders_of(found, self.actor))


class Classes(ApiView):
    """Resource classes."""

    @endpoint("list_classes", "Resource classes", query=ClassesQuery, gives={200: ClassPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """By key, each with the rate in force."""
        kept = {"kind": given.get("kind", ""), "text": given.get("q", ""), "retired": given.get("retired", False)}
        found, following = page(classes_matching(**kept), ("key",), given)
        return answer(ClassPage, {"results": _entries(found), "next": following})

    @endpoint("define_class", "Define a resource class", body=NewClass, gives={201: ClassShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """With the devices its match takes now."""
        note = given.pop("reason")
        row = define_class(actor=self.actor, note=note, now=utc_now(), **given)
        return answer(ClassShown, _entries([row])[0], status=201)


class OneClass(ApiView):
    """A resource class."""

    @endpoint("read_class", "A resource class", gives={200: ClassShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """With the rate in force."""
        return answer(ClassShown, _entries([_class(key)])[0])

    @endpoint("change_class", "Change a class", body=ClassChange, gives={200: ClassShown}, refuses=(404, 409))
    def patch(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Names, match, memory, maintainer."""
        note = given.pop("reason")
        if given.get("memory_bytes", 1) is None:
            given["memory_bytes"] = 0
        change_class(actor=self.actor, resource_class=_class(key), note=note, now=utc_now(), **given)
        return answer(ClassShown, _entries([_class(key)])[0])


class ClassMatch(ApiView):
    """A match on trial."""

    @endpoint("preview_class", "What a match would take", body=MatchTry, gives={200: GroupMovesShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Device groups that would come and go; nothing is stored."""
        access.require_platform(self.actor, "policy.manage")
        return answer(GroupMovesShown, {"moves": moves_of_match(_class(key).key, given["match"])})


class ClassRetired(ApiView):
    """The end of a class."""

    @endpoint("retire_class", "Retire a class", body=FleetReason, gives={200: ClassShown}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Refused while nodes report some of it."""
        retire_class(actor=self.actor, resource_class=_class(key), note=given["reason"], now=utc_now())
        return answer(ClassShown, _entries([_class(key)])[0])


class Rates(ApiView):
    """Versions of a class's rate."""

    @endpoint("list_rates", "Rates of a class", query=PageQuery, gives={200: RatePage}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """The newest first."""
        return answer_page(RatePage, rates_of(_class(key)), ("-valid_from", "-id"), given)

    @endpoint("publish_rate", "Publish a rate", body=NewRate, gives={201: RateShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """It ends the version in force before it; a published version never changes otherwise."""
        now, note = utc_now(), given.pop("reason")
        start = given.pop("valid_from", now)
        rate = publish_rate(actor=self.actor, resource_class=_class(key), valid_from=start, note=note, now=now, **given)
        return answer(RateShown, rate, status=201)


def _rate_effects(_actor: Any, given: dict[str, Any], key: str) -> Sequence[Effect]:
    now = utc_now()
    start = given.get("valid_from", now)
    return effects_of_rate(_class(key), given["price_micro"], given.get("currency", "points"), start, now)


RatePreview = preview_of(
    Rates.post, "preview_rate", "What a rate would mean for last month", body=NewRate, effects=_rate_effects
)


class DataSources(ApiView):
    """Data sources."""

    @endpoint("list_data_sources", "Data your projects may read", query=PageQuery, gives={200: DataPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first."""
        return answer_page(DataPage, data_visible_to(self.actor), ("created_at", "id"), given)


def _class(key: str) -> ResourceClass:
    row = ResourceClass.objects.filter(key=key).first()
    if row is None:
        raise NotFound(f"ResourceClass {key}")
    return row


def _entries(classes: Sequence[ResourceClass]) -> list[ClassEntry]:
    now = utc_now()
    return class_entries(classes, [], {}, rates_in_force(now), now)
