"""An administrator attaches a real control plane in the browser, with the tokens of the roles' own manifests, and sees
its nodes as they are."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from controlplane import steer
from controlplane.cluster import Cluster
from controlplane.kubelet import presets
from portal.embedded.stack import Stack, start_stack
from resources.drivers.kubernetes.connection import Right
from tests.cluster.roles import apply_role
from tests.e2e import conftest as e2e
from tests.e2e.person import Person, person, until

chromium = e2e.chromium
NAMESPACE, PROJECT = "story-jobs", "mapping"
MISLABELLED = "The labels say 4 cards that are not shared, but 8 are advertised"
WIDE = {"width": 1280, "height": 900}
# Node in trouble -> what its page says of it, in words.
TROUBLES = {
    "story-cordoned": (presets.gpu_node("story-cordoned", cordoned=True), "Somebody closed the node to new jobs."),
    "story-silent": (presets.gpu_node("story-silent", ready=False), "not ready"),
    "story-half": (
        presets.gpu_node("story-half", allocatable={presets.GFD: 5}),
        "3 of the devices were withdrawn from use.",
    ),
    "story-unlabelled": (presets.gpu_node("story-unlabelled", labels={}), "not observed"),
    "story-mislabelled": (
        presets.gpu_node("story-mislabelled", labels=presets.gpu_labels("NVIDIA-L4", 23_034, 4)),
        MISLABELLED,
    ),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A portal that may reach this machine's own addresses."""
    state = tmp_path_factory.mktemp("portal") / "state"
    running = start_stack(state, extra={"PORTAL_CLUSTER_NETWORKS": "127.0.0.0/8"})
    yield running
    running.stop()


@pytest.fixture(scope="module")
def admin(chromium: Browser, stack: Stack) -> Iterator[Person]:
    with person(chromium, stack.url.rstrip("/"), viewport=WIDE) as someone:
        someone.sign_in("admin", stack.accounts["admin"])
        yield someone


def change(page: Page, reason: str, **fields: str) -> None:
    """Fill in a form of the console, look at its preview, say why, and save."""
    for name, value in fields.items():
        control = page.locator(f"[name={name}]").first
        kind = control.evaluate("e => e.type")
        if kind == "checkbox":
            page.locator(f"[name={name}][value='{value}']").check()
        elif kind.startswith("select"):
            control.select_option(value)
        else:
            control.fill(value)
    page.get_by_role("button", name="Preview").click()
    page.locator("[name=reason]").fill(reason)
    page.locator("button[name=step][value=save]").click()
    expect(page.locator("#flash")).not_to_be_empty()


def test_a_cluster_is_attached_with_three_fields(admin: Person, control_plane: Cluster, api) -> None:
    tokens = {right: apply_role(api, right, NAMESPACE) for right in (Right.OBSERVER, Right.RUNNER)}
    admin.go("/clusters/new")
    admin.page.get_by_role("link", name="Attach Kubernetes").click()
    change(
        admin.page,
        "The laboratory's cluster",
        key="lab",
        name="Laboratory",
        server=control_plane.ports.server,
        namespace=NAMESPACE,
        authority=(control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8"),
        observer_token=tokens[Right.OBSERVER],
        runner_token=tokens[Right.RUNNER],
    )
    text = admin.page.content()
    assert tokens[Right.OBSERVER] not in text and tokens[Right.RUNNER] not in text


def test_nodes_are_shown_as_they_are_each_with_its_reason(admin: Person, add_node) -> None:
    for node, _words in TROUBLES.values():
        add_node(node)

    def found() -> bool:
        admin.go("/nodes?cluster=lab")
        return all(admin.page.get_by_role("link", name=name).count() for name in TROUBLES)

    until(found, within=60, what="the nodes did not come")
    rows = admin.page.locator("tbody")
    expect(rows).to_contain_text("huawei.com/Ascend910")
    expect(rows).to_contain_text("nvidia.com/gpu")
    for name, (_node, words) in TROUBLES.items():
        admin.go("/nodes?cluster=lab")
        admin.page.get_by_role("link", name=name, exact=True).click()
        expect(admin.page.locator("main")).to_contain_text(words)
    admin.complaints.lines.clear()


def test_a_pool_is_made_and_its_nodes_come_in_once_a_validation_job_has_passed(admin: Person, api) -> None:
    steer.script_pods(api, NAMESPACE, duration=1.0, log="fit")
    page = admin.page
    admin.go("/classes/new")
    change(page, "New cards", key="a100", kind="GPU", name_en="A100 80 GB", match="resource_name=nvidia.com/gpu")
    admin.go("/runtimes/new")
    change(
        page, "For checks", key="tools", driver_kind="kubernetes", name_en="Tools", version="1",
        image="registry.example.com/tools@sha256:" + "0" * 64, kinds="GPU",
    )  # fmt: skip
    admin.go("/pools/new")
    change(page, "The hall", key="hall", name_en="Hall", selector="cluster=lab\nnvidia.com/gpu.family=ampere")
    admin.go(f"/projects/{PROJECT}")
    page.locator("#grants a.btn.push").click()
    change(page, "For validation", pool_key="hall")

    def offered() -> bool:
        admin.go("/pools/hall/admission")
        return page.locator("[name=template] option[value=check-container]").count() > 0

    until(offered, within=60, what="the template for containers was not published")
    change(page, "Nothing unproved", admission="validate", template="check-container", project=PROJECT)

    def proved() -> bool:
        admin.go("/nodes?cluster=lab")
        page.get_by_role("link", name="gpu-1", exact=True).click()
        return "Schedulable" in page.locator(".head").inner_text()

    until(proved, within=120, what="gpu-1 did not come into service")
    admission = page.locator("[data-panel=admission]")
    expect(admission).to_contain_text("Verified")
    admission.locator("a[href^='/jobs/']").first.click()
    expect(page.locator("main")).to_contain_text("Succeeded")
