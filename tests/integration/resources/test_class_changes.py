"""Classes and rates: which devices change class and what a rate would have made of last month is said before."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from jobs.states import JobState
from metering.services.record_usage import record_usage
from portal.lib.errors import Conflict, Denied, Invalid
from resources.models import DeviceGroup, RateVersion, ResourceClass
from resources.models.catalogue import Kind
from resources.services.define_class import define_class
from resources.services.publish_rate import publish_rate
from resources.services.retire_class import retire_class
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import NOW

NEW = {
    "key": "a80",
    "kind": "GPU",
    "name_en": "A80",
    "name_zh": "",
    "match": "model=Model A",
    "memory": "80Gi",
    "maintainer": "",
}


@pytest.fixture
def cards(cast):
    """A node with two cards no class takes."""
    make.make_node("g1", cast.cluster, cast.shared, cards=2)
    return cast


def class_of_the_cards() -> str | None:
    row = DeviceGroup.objects.get(node__name="g1").resource_class
    return row.key if row else None


def test_a_new_class_takes_what_its_preview_said(cards, as_user):
    admin = as_user(cards.platform_admin)
    page = admin.preview("/classes/new", **NEW)
    assert "1 device group is taken: g1/vendor.example/card (unrecognised)." in page
    assert class_of_the_cards() is None
    admin.save("/classes/new", **NEW)
    assert class_of_the_cards() == "a80"
    assert ResourceClass.objects.get(key="a80").memory_bytes == 80 << 30


def test_a_better_match_takes_devices_from_another_class_and_says_so(cards, as_user):
    define_class(actor=None, key="any", name={"en": "Any"}, kind=Kind.GPU, match={"kind": "GPU"}, now=NOW)
    assert class_of_the_cards() == "any"
    page = as_user(cards.platform_admin).preview("/classes/new", **NEW | {"match": "kind=GPU\nmodel=Model A"})
    assert "g1/vendor.example/card (any)" in page


def test_devices_given_up_are_named_before_a_match_is_narrowed(cards, as_user):
    admin = as_user(cards.platform_admin)
    admin.save("/classes/new", **NEW)
    given = {name: NEW[name] for name in ("name_en", "name_zh", "memory", "maintainer")} | {"match": "model=Model B"}
    page = admin.preview("/classes/a80/edit", **given)
    assert "1 device group is given up: g1/vendor.example/card → unrecognised." in page
    admin.save("/classes/a80/edit", **given, reason="It was the wrong model.")
    assert class_of_the_cards() is None
    event = AuditEvent.objects.get(verb="class.changed")
    assert (event.before, event.after) == ({"match": {"model": "Model A"}}, {"match": {"model": "Model B"}})


def test_memory_can_be_taken_off(cast, as_user):
    admin = as_user(cast.platform_admin)
    admin.save("/classes/new", **NEW)
    given = {name: NEW[name] for name in ("name_en", "name_zh", "match", "maintainer")}
    admin.save("/classes/a80/edit", **given, memory="")
    assert ResourceClass.objects.get(key="a80").memory_bytes is None


@pytest.mark.parametrize("changed", [{"match": "colour=red"}, {"match": "model"}, {"memory": "80 GB"}, {"kind": "TPU"}])
def test_what_is_no_class_is_refused_and_nothing_is_stored(cast, as_user, changed):
    as_user(cast.platform_admin).send("/classes/new", 422, step="preview", **NEW | changed)
    assert not ResourceClass.objects.filter(key="a80").exists()


def test_a_class_that_nodes_report_is_not_retired(cards, as_user):
    admin = as_user(cards.platform_admin)
    admin.save("/classes/new", **NEW)
    page = admin.page("/classes/a80/retire")
    assert "1 node still reports some of it." in page
    assert 'value="save"' not in page
    with pytest.raises(Conflict) as refused:
        retire_class(actor=None, resource_class=ResourceClass.objects.get(key="a80"), note="", now=NOW)
    assert refused.value.facts == {"key": "a80", "nodes": 1}
    DeviceGroup.objects.update(capacity_parts=0, allocatable_parts=0)
    admin.save("/classes/a80/retire", reason="Sold.")
    assert ResourceClass.objects.get(key="a80").retired_at == NOW
    assert "A80" not in admin.page("/classes")
    assert "A80" in admin.page("/classes?retired=1")


RATE = {"price": "2.5", "currency": "points", "weight": "1", "valid_from": ""}


def use_an_hour_last_month(cast, cores: int = 2):
    end = datetime(2026, 10, 10, 11, tzinfo=UTC)
    lines, start = [("cpu", "cpu", cores * 1_000)], end - timedelta(hours=1)
    job = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED, lines=lines)
    times = {"reserved": start, "bound": start, "started": start, "stopped": end, "released": end}
    make.make_allocation(job, cast.node, lines, **times)
    record_usage(now=NOW)


def test_a_rate_says_what_it_would_have_made_of_last_month(cast, as_user):
    use_an_hour_last_month(cast)
    admin = as_user(cast.platform_admin)
    page = admin.preview("/classes/cpu/rates/new", **RATE)
    assert "2026-10-01 to 2026-10-31: 2 core-hours were entered as 2.00 points; at this rate they would be" in page
    assert "5.00 points" in page
    admin.save("/classes/cpu/rates/new", **RATE, reason="Power got dearer.")
    old, new = RateVersion.objects.filter(class_key="cpu").order_by("valid_from")
    assert (old.valid_to, new.valid_from, new.price_micro, new.note) == (NOW, NOW, 2_500_000, "Power got dearer.")
    event = AuditEvent.objects.filter(verb="rate.published").order_by("-seq").first()
    assert (event.before["price_micro"], event.after["price_micro"], event.note) == (
        1_000_000,
        2_500_000,
        "Power got dearer.",
    )


def test_last_month_without_use_is_no_zero(cast, as_user):
    page = as_user(cast.platform_admin).preview("/classes/cpu/rates/new", **RATE)
    assert "no use of it is entered: there is nothing to compare" in page


def test_a_rate_without_a_price_is_unrated(cast, as_user):
    admin = as_user(cast.platform_admin)
    assert "unrated" in admin.preview("/classes/cpu/rates/new", **RATE | {"price": ""})
    admin.save("/classes/cpu/rates/new", **RATE | {"price": ""})
    assert RateVersion.objects.get(class_key="cpu", valid_to=None).price_micro is None
    assert "unrated" in admin.page("/classes/cpu")


def test_the_past_is_for_corrections_that_say_so(cast, as_user):
    admin = as_user(cast.platform_admin)
    past = RATE | {"valid_from": "2026-11-01T00:00"}
    page = admin.send("/classes/cpu/rates/new", 422, step="preview", **past)
    assert "To correct the past, say that this is a correction" in page
    page = admin.preview("/classes/cpu/rates/new", **past, correction="on")
    assert "Usage that is entered keeps its rate" in page
    admin.save("/classes/cpu/rates/new", **past, correction="on")
    assert RateVersion.objects.filter(class_key="cpu", valid_to=None).get().valid_from < NOW
    event = AuditEvent.objects.filter(verb="rate.published").order_by("-seq").first()
    assert event.after["correction"] is True


def test_versions_never_overlap(cast, as_user):
    admin = as_user(cast.platform_admin)
    admin.save("/classes/cpu/rates/new", **RATE | {"valid_from": "2027-01-01T00:00"})
    page = admin.send("/classes/cpu/rates/new", 422, step="preview", **RATE)
    assert "A version of this class already begins on" in page
    with pytest.raises(Invalid):
        publish_rate(actor=None, resource_class=cast.cpu, price_micro=1, weight_micro=1, valid_from=NOW, now=NOW)
    page = admin.page("/classes/cpu")
    assert page.count("in force") == 1
    assert page.count("to come") == 1


@pytest.mark.parametrize("price", ["-1", "1e3", "1,5", "NaN", "1.1234567", "٣", "9999999999"])
def test_a_price_is_a_plain_number(cast, as_user, price):
    as_user(cast.platform_admin).send("/classes/cpu/rates/new", 422, step="preview", **RATE | {"price": price})
    assert RateVersion.objects.filter(class_key="cpu").count() == 1


def test_only_who_sets_policy_publishes(cast):
    with pytest.raises(Denied):
        publish_rate(
            actor=cast.pool_admin, resource_class=cast.cpu, price_micro=1, weight_micro=None, valid_from=NOW, now=NOW
        )
    assert Decimal(RateVersion.objects.get(class_key="cpu").price_micro or 0) == 1_000_000
