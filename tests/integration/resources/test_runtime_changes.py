"""Runtimes are declared, changed and retired; a job is given one only where it is declared for what the job asks."""

import pytest

from jobs.models import Job, TemplateVersion
from jobs.request import JobRequest
from jobs.selectors.workload import workload_of
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.submit_job import submit_job
from jobs.shipped.containers import TEMPLATES
from portal.lib.errors import Denied, Invalid
from resources.models import Runtime
from resources.services.change_runtime import change_runtime
from resources.services.declare_runtime import declare_runtime
from resources.services.retire_runtime import retire_runtime
from tenants.models import AuditEvent
from tenants.services.grant_pool import grant_pool
from tests import builders as make
from tests.builders import NOW
from tests.declared import make_runtime

NEW = {
    "key": "torch",
    "driver_kind": "kubernetes",
    "name_en": "PyTorch",
    "name_zh": "",
    "image": "registry.example/torch:2.4",
    "framework": "PyTorch",
    "version": "2.4",
    "driver_range": ">=535",
    "runtime_class": "nvidia",
    "kinds": ["CPU", "GPU"],
    "classes": [],
    "task_types": ["training"],
    "maintainer": "Rosa",
}


def test_a_runtime_is_declared_in_two_steps_and_says_that_its_image_may_move(cast, as_user):
    admin = as_user(cast.platform_admin)
    assert "The image is not pinned" in admin.preview("/runtimes/new", **NEW)
    assert not Runtime.objects.exists()
    admin.save("/runtimes/new", **NEW, reason="For training.")
    row = Runtime.objects.get()
    assert (row.key, row.kinds, row.task_types, row.driver_range) == ("torch", ["GPU", "CPU"], ["training"], ">=535")
    event = AuditEvent.objects.get(verb="runtime.declared")
    assert (event.after["image"], event.note) == ("registry.example/torch:2.4", "For training.")
    page = as_user(cast.member).page("/runtimes/torch")
    assert "not pinned" in page and "Training job" in page and "Declared, not proven" in page
    assert "/runtimes/torch/edit" not in page


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"image": ""}, "On Kubernetes every job runs in an image"),
        ({"image": "torch:2.4"}, "Name the registry first"),
        ({"image": "registry.example/a b"}, "This names no image"),
        ({"driver_range": "newer"}, "Write bounds such as"),
        ({"runtime_class": "A B"}, "lower-case letters"),
        ({"kinds": []}, "required"),
        ({"classes": ["cpu-9"]}, "Select a valid choice"),
        ({"key": "new"}, "stands for something else"),
    ],
)
def test_what_is_no_runtime_is_refused_beside_its_field(cast, as_user, changed, said):
    page = as_user(cast.platform_admin).send("/runtimes/new", 422, step="preview", **NEW | changed)
    assert said in page
    assert not Runtime.objects.exists()


def test_images_come_from_listed_registries_only_where_there_is_a_list(cast, as_user, settings):
    settings.IMAGE_REGISTRIES = ["inside.example"]
    admin = as_user(cast.platform_admin)
    page = admin.send("/runtimes/new", 422, step="preview", **NEW)
    assert "Images of registry.example are not allowed here. Allowed: inside.example." in page
    admin.save("/runtimes/new", **NEW | {"image": "inside.example/torch:1"})


def test_a_key_is_taken_once_and_the_installation_finds_its_own(cast, as_user):
    make_runtime("torch")
    page = as_user(cast.platform_admin).send("/runtimes/new", 422, step="preview", **NEW)
    assert "torch is taken" in page
    assert make_runtime("torch").pk == Runtime.objects.get().pk


def test_a_change_says_old_and_new_and_keeps_kind_and_key(cast, as_user):
    card = make.make_class("a80", "GPU")
    make_runtime("torch", maintainer="Rosa")
    admin = as_user(cast.platform_admin)
    page = admin.page("/runtimes/torch/edit")
    assert "driver_kind" not in page
    values = NEW | {"classes": ["a80"], "image": "registry.example/torch@sha256:" + "0" * 64}
    del values["key"], values["driver_kind"]
    page = admin.preview("/runtimes/torch/edit", **values)
    assert "a80" in page and "not pinned" not in page
    admin.save("/runtimes/torch/edit", **values, reason="Pinned.")
    row = Runtime.objects.get()
    assert list(row.classes.all()) == [card] and row.driver_kind == "kubernetes"
    event = AuditEvent.objects.get(verb="runtime.changed")
    assert event.before["classes"] == [] and event.after["classes"] == ["a80"]
    assert "maintainer" not in event.after
    assert "pinned" in admin.page("/runtimes/torch")


def test_a_class_of_another_kind_is_refused(cast):
    make.make_class("n1", "NPU")
    with pytest.raises(Invalid) as refused:
        change_runtime(actor=None, runtime=make_runtime(), classes=["n1"], note="", now=NOW)
    assert [f.reason for f in refused.value.fields] == ["OtherKind"]


def test_a_retired_one_is_out_of_the_list_and_stays_as_it_is(cast, as_user):
    make_runtime()
    admin = as_user(cast.platform_admin)
    assert "in use" in admin.page("/runtimes/tools/retire")
    admin.save("/runtimes/tools/retire", reason="Old.")
    assert Runtime.objects.get().retired_at == NOW
    assert "/runtimes/tools" not in admin.page("/runtimes")
    assert "/runtimes/tools" in admin.page("/runtimes?retired=1")
    form = {name: value for name, value in NEW.items() if name not in ("key", "driver_kind")}
    assert "is retired and stays as it is" in admin.send("/runtimes/tools/edit", 409, step="preview", **form)


def test_only_who_sets_policy_declares(cast):
    facts = {"key": "x", "name": {"en": "X"}, "driver_kind": "local", "kinds": ["CPU"], "framework": "", "version": ""}
    with pytest.raises(Denied):
        declare_runtime(actor=cast.pool_admin, now=NOW, **facts)


def test_the_drivers_a_runtime_would_find_are_told_by_version(cast, as_user):
    far = make.make_kubernetes("far")
    card = make.make_class("a80", "GPU")
    for name, version in (("g1", "550.54"), ("g2", "470.1"), ("g3", "")):
        node = make.make_node(name, far, cards=1, card_class=card)
        node.groups.update(driver_version=version)
    make_runtime(driver_range=">=535")
    page = as_user(cast.platform_admin).page("/runtimes/tools")
    rows = {v: page[page.index(f'<td class="mono">{v}') :].partition("</tr>")[0] for v in ("550.54", "470.1", "–")}
    assert [">yes<" in row for row in rows.values()] == [True, False, False]
    assert ">no<" in rows["470.1"] and "not known" in rows["–"]


# --- what a job is given ------------------------------------------------------------------------------


@pytest.fixture
def site(cast):
    """A Kubernetes cluster with two cards in a pool of its own that alpha may use."""
    far = make.make_kubernetes("far")
    far.last_seen_at = NOW
    far.save()
    pool, card = make.make_pool("cards"), make.make_class("a80", "GPU")
    make.make_node("g1", far, pool, cards=2, card_class=card)
    grant_pool(actor=None, tenant=cast.alpha, pool_key="cards", now=NOW, valid_from=make.ago(days=1))
    publish_shipped_templates(now=NOW, templates=TEMPLATES)
    return cast


def submit(cast, **fields) -> Job:
    version = TemplateVersion.objects.get(template__slug="check-container")
    request = JobRequest(**{"name": "check", "params": {}, "pool": "cards"} | fields)
    return submit_job(actor=cast.member, project=cast.alpha, version=version, request=request, now=NOW)


def test_a_container_without_a_runtime_is_refused_when_it_is_asked_for(site, as_user):
    with pytest.raises(Invalid) as refused:
        submit(site)
    assert refused.value.reason == "RuntimeNotDeclared"
    assert "no runtime with an image is declared" in refused.value.text() and "Runtimes" in refused.value.text()
    assert not Job.objects.exists()
    page = as_user(site.member).send("/templates/check-container/new", 422, project=str(site.alpha.pk), name="c")
    assert "no runtime with an image is declared" in page


def test_a_runtime_of_another_kind_of_cluster_does_not_count(site):
    make_runtime("local", driver_kind="local")
    with pytest.raises(Invalid):
        submit(site)


def test_a_job_is_given_the_first_that_is_declared_for_what_it_asks(site):
    make_runtime("a-training", task_types=["training"])
    make_runtime("b-cards", kinds=["GPU"])
    make_runtime("c-cores", kinds=["CPU"])
    assert submit(site).runtime_key == "c-cores"
    assert submit(site, devices="1", device_class="a80").runtime_key == "b-cards"


def test_a_class_no_runtime_is_declared_for_is_refused_beside_its_field(site):
    other = make.make_class("a40", "GPU")
    make_runtime(classes=[other.key])
    assert submit(site).runtime_key == "tools"
    with pytest.raises(Invalid) as refused:
        submit(site, devices="1", device_class="a80")
    (field,) = refused.value.fields
    assert (field.field, field.reason) == ("device_class", "RuntimeNotDeclared")
    assert "No runtime is declared for A80" in field.text()


def test_a_retired_runtime_or_one_of_a_closed_registry_is_given_to_nobody(site, settings):
    row = make_runtime()
    settings.IMAGE_REGISTRIES = ["inside.example"]
    with pytest.raises(Invalid):
        submit(site)
    settings.IMAGE_REGISTRIES = []
    job = submit(site)
    retire_runtime(actor=None, runtime=row, note="", now=NOW)
    with pytest.raises(Invalid):
        submit(site, name="another")
    make.make_allocation(job, site.node, reserved=NOW)
    assert workload_of(job, job.attempts.get()).image == "registry.example/tools:1"  # what has it keeps it
