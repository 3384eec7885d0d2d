"""A vendor nobody knew is in the inventory after a row is added: without a release (R-04)."""

import pytest

from portal.lib.errors import Denied, Invalid
from resources.drivers.base import Inventory
from resources.drivers.kubernetes.asked import pod_use, uses_of
from resources.drivers.kubernetes.inventory import NodeReader
from resources.models import DeviceGroup, VendorRow
from resources.normalize import load_catalogue
from resources.selectors import drivers
from resources.selectors.vendor_rows import catalogue_in_force
from resources.services.save_vendor_row import save_vendor_row
from resources.services.store_inventory import store_inventory
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import NOW
from tests.declared import make_vendor_row

NEW = {
    "pattern": "acme.example/xpu",
    "vendor": "acme",
    "vendor_name": "Acme Chips",
    "kind": "NPU",
    "unit": "card",
    "model_label": "acme.example/xpu.product",
    "memory_label": "acme.example/xpu.memory",
    "memory_unit": "MiB",
    "driver_label": "acme.example/driver",
}
NODE = {
    "kind": "Node",
    "metadata": {
        "name": "x1",
        "labels": {
            "acme.example/xpu.product": "X900", "acme.example/xpu.memory": "65536", "acme.example/driver": "3.1.4",
        },
    },
    "spec": {},
    "status": {
        "capacity": {"cpu": "64", "memory": "512Gi", "pods": "110", "acme.example/xpu": "8"},
        "allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110", "acme.example/xpu": "7"},
        "conditions": [{"type": "Ready", "status": "True"}],
        "nodeInfo": {"architecture": "amd64", "osImage": "Debian GNU/Linux 12"},
    },
}  # fmt: skip


def look(cluster) -> DeviceGroup:
    """An inventory pass with the catalogue in force."""
    node = NodeReader(catalogue_in_force()[1], uses_of(map(pod_use, ()))).read(NODE)
    assert node is not None
    store_inventory(cluster=cluster, inventory=Inventory(nodes=(node,), at=NOW, complete=True))
    return DeviceGroup.objects.get(node__name="x1")


def test_a_made_up_vendor_is_known_after_a_row_is_added(cast, as_user):
    far = make.make_kubernetes("far")
    before = look(far)
    assert (before.vendor, before.kind, before.model, before.capacity_parts) == ("", "ACCELERATOR", "", 8 * make.CARD)
    admin = as_user(cast.platform_admin)
    page = admin.page("/vendor-rows")
    assert "acme.example/xpu" in page and "/vendor-rows/new?pattern=acme.example%2Fxpu" in page
    assert "1 device group of today: x1/acme.example/xpu." in admin.preview("/vendor-rows/new", **NEW)
    admin.save("/vendor-rows/new", **NEW, reason="Bought eight.")
    after = look(far)
    assert (after.vendor, after.kind, after.model, after.driver_version) == ("acme", "NPU", "X900", "3.1.4")
    assert (after.capacity_parts, after.allocatable_parts) == (8 * make.CARD, 7 * make.CARD)
    assert {device.memory_bytes for device in after.devices.all()} == {64 << 30}
    assert AuditEvent.objects.get(verb="vendor_row.added").note == "Bought eight."


def test_the_driver_of_a_cluster_is_made_anew_with_every_change_of_the_rows(cast):
    far = make.make_kubernetes("far")
    first = drivers.driver_for(far)
    assert drivers.driver_for(far) is first
    row = make_vendor_row()
    second = drivers.driver_for(far)
    assert second is not first and second._catalogue.rule_of("acme.example/xpu") is not None
    assert drivers.driver_for(far) is second
    row.delete()
    assert drivers.driver_for(far)._catalogue == load_catalogue()


def test_a_row_stands_before_those_of_the_portal_and_says_so(cast, as_user):
    given = NEW | {"pattern": "nvidia.com/gpu", "vendor": "nvidia", "kind": "ACCELERATOR"}
    page = as_user(cast.platform_admin).preview("/vendor-rows/new", **given)
    assert "A row of the portal knows this name: yours stands before it." in page
    make_vendor_row("nvidia.com/gpu", vendor="nvidia", kind="ACCELERATOR")
    catalogue = catalogue_in_force()[1]
    rule, _parts = catalogue.rule_of("nvidia.com/gpu") or pytest.fail("no rule")
    assert rule.kind == "accelerator"
    assert catalogue.vendors["nvidia"] == load_catalogue().vendors["nvidia"]


def test_a_whole_name_stands_before_a_pattern(cast):
    make_vendor_row("acme.example/*", vendor="acme")
    make_vendor_row("acme.example/xpu", vendor="acme-two", vendor_name="Acme Two")
    catalogue = catalogue_in_force()[1]
    assert [catalogue.rule_of(f"acme.example/{n}")[0].vendor for n in ("xpu", "other")] == ["acme-two", "acme"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"pattern": "(a+)+$"}, "Write the resource name"),
        ({"pattern": "acme.example/*x*"}, "Write the resource name"),
        ({"vendor": "Acme Chips"}, "Use lower-case letters"),
        ({"vendor_name": ""}, "required"),
        ({"kind": "CPU"}, "Select a valid choice"),
        ({"memory_unit": "PiB"}, "Select a valid choice"),
        ({"model_label": "a b"}, "Write the key of a node label"),
    ],
)
def test_a_bad_row_is_refused_beside_its_field(cast, as_user, changed, said):
    page = as_user(cast.platform_admin).send("/vendor-rows/new", 422, step="preview", **NEW | changed)
    assert said in page
    assert not VendorRow.objects.exists()


def test_unknown_fields_and_words_are_refused_by_the_api_too(cast, client):
    client.force_login(cast.platform_admin)
    for changed in ({"regex": ".*"}, {"kind": "TPU"}, {"unit": "pod"}, {"pattern": "a/(b|b)*"}):
        body = {name: value for name, value in NEW.items() if value} | {"reason": "Why."} | changed
        answer = client.post("/api/v1/vendor-rows", body, content_type="application/json")
        assert answer.status_code in (400, 422), answer.content
    assert not VendorRow.objects.exists()


def test_a_row_is_changed_and_taken_off(cast, as_user):
    row = make_vendor_row()
    admin = as_user(cast.platform_admin)
    admin.save(f"/vendor-rows/{row.pk}", **NEW, reason="Labels.")
    row.refresh_from_db()
    assert row.model_label == "acme.example/xpu.product"
    assert AuditEvent.objects.get(verb="vendor_row.changed").after["vendor_name"] == "Acme Chips"
    admin.save(f"/vendor-rows/{row.pk}/remove", reason="Sold.")
    assert not VendorRow.objects.exists() and catalogue_in_force() == ("", load_catalogue())
    admin.page(f"/vendor-rows/{row.pk}", 404)


def test_a_name_has_one_row_and_only_who_sets_policy_writes_it(cast, as_user):
    make_vendor_row()
    assert "is taken" in as_user(cast.platform_admin).send("/vendor-rows/new", 422, step="preview", **NEW)
    with pytest.raises(Invalid):
        make_vendor_row()
    facts = {"vendor": "b", "vendor_name": "B", "kind": "GPU", "now": NOW}
    with pytest.raises(Denied):
        save_vendor_row(actor=cast.pool_admin, pattern="b.example/x", **facts)
    assert "New vendor row" not in as_user(cast.member).page("/vendor-rows")
