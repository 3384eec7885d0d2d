"""What people declare can be looked at first through the API as well: nothing is kept, and refusals are the same."""

import pytest

from resources.models import ClassEquivalence, ClassFact, Runtime, VendorRow
from tenants.models import AuditEvent
from tests.declared import make_vendor_row

RUNTIME = {"key": "fresh", "name": {"en": "Fresh"}, "driver_kind": "local", "kinds": ["CPU"]}
FACT = {"topic": "framework", "subject": "Fresh 1", "support": "yes", "source": "A sheet", "as_of": "2026-11-01"}
PAIR = {"by": "memory", "task_type": "batch", "valid_to": "2027-01-31T00:00:00Z", "evidence": "Measured."}
ROW = {"pattern": "acme.example/xpu", "vendor": "acme", "vendor_name": "Acme", "kind": "GPU"}


@pytest.fixture
def post(cast, as_user):
    client = as_user(cast.platform_admin).client
    return lambda path, body: client.post(f"/api/v1/{path}", body, content_type="application/json")


def stored() -> list[int]:
    return [model.objects.count() for model in (Runtime, ClassFact, ClassEquivalence, VendorRow, AuditEvent)]


@pytest.mark.parametrize(
    ("path", "body", "field", "new"),
    [
        ("runtimes/new/preview", RUNTIME, "driver_kind", "local"),
        ("classes/cpu/facts/preview", FACT, "fact", "subject=Fresh 1"),
        ("classes/cpu/equivalences/preview", PAIR, "evidence", "Measured."),
    ],
)
def test_a_preview_says_what_would_be_declared_and_keeps_nothing(post, path, body, field, new):
    before = stored()
    answer = post(path, body)
    assert answer.status_code == 200, answer.json()
    found = {one["name"]: (one["old"], one["new"]) for one in answer.json()["changes"]}
    assert found[field][0] == "" and new in found[field][1]
    assert stored() == before


def test_a_change_of_a_vendor_row_shows_old_and_new(post):
    row = make_vendor_row()
    before = stored()
    answer = post(f"vendor-rows/{row.pk}/preview", ROW)
    assert {(one["name"], one["old"], one["new"]) for one in answer.json()["changes"]} >= {("kind", "NPU", "GPU")}
    assert stored() == before and VendorRow.objects.get().kind == "NPU"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("runtimes/new/preview", RUNTIME | {"driver_kind": "kubernetes"}, "image"),
        ("runtimes/new/preview", RUNTIME | {"driver_range": "new"}, "driver_range"),
        ("classes/cpu/facts/preview", FACT | {"source": ""}, "source"),
        ("classes/cpu/equivalences/preview", PAIR | {"by": "nothing"}, "by"),
        ("classes/cpu/equivalences/preview", PAIR | {"evidence": ""}, "evidence"),
    ],
)
def test_a_preview_refuses_as_the_act_itself(post, path, body, field):
    answer = post(path, body)
    act = post(path.removesuffix("/preview").removesuffix("/new"), body | {"reason": "Because."})
    assert answer.status_code == act.status_code >= 400
    named = [[one["field"] for one in said.json()["fields"]] for said in (answer, act)]
    assert named[0] == named[1] and field in named[0]
