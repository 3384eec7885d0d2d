"""An administrator attaches a real control plane in the browser, with the tokens of the roles' own manifests, and sees
its nodes as they are."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from controlplane.cluster import Cluster
from controlplane.kubelet import presets
from portal.embedded.stack import Stack, start_stack
from resources.drivers.kubernetes.connection import Right
from tests.cluster.roles import apply_role
from tests.e2e import conftest as e2e
from tests.e2e.person import Person, person, until

chromium = e2e.chromium
NAMESPACE = "story-jobs"
WIDE = {"width": 1280, "height": 900}
# Name of a node in trouble -> what its page says of it.
TROUBLES = {
    "cordoned": ("Cordoned", presets.gpu_node("story-cordoned", cordoned=True)),
    "silent": ("NodeNotReady", presets.gpu_node("story-silent", ready=False)),
    "half": ("DevicesWithdrawn", presets.gpu_node("story-half", allocatable={"nvidia.com/gpu": 5})),
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
        control.select_option(value) if control.evaluate("e => e.tagName") == "SELECT" else control.fill(value)
    page.get_by_role("button", name="Preview").click()
    page.locator("[name=reason]").fill(reason)
    page.locator("button[name=step][value=save]").click()
    expect(page.locator("#flash, .flash").first).to_be_visible()


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
    admin.page.screenshot(path="/tmp/story-1.png", full_page=True)


def test_nodes_are_shown_as_they_are(admin: Person, api, add_node) -> None:
    for _word, node in TROUBLES.values():
        add_node(node)

    def found() -> bool:
        admin.go("/nodes?cluster=lab")
        return admin.page.get_by_role("link", name="story-half").count() > 0

    until(found, within=60, what="the nodes did not come")
    admin.page.screenshot(path="/tmp/story-2.png", full_page=True)
