"""What each stage asks for, and whether it is so: facts in, items out. Nothing here was ever ticked by a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from django.utils.translation import gettext as _

from portal.lib import units
from portal.web.nav import address
from portal.web.stages import Stage

State = Literal["done", "not_yet", "impossible"]
ENOUGH = 1_000
"""Jobs, proofs and entries are counted no further: one more stands for "more than this"."""


@dataclass(frozen=True, slots=True)
class SetupFacts:
    """Counts of what is there; `simulated` ones are counted apart, because they prove nothing about this place."""

    clusters: int = 0  # real ones that are attached
    simulated_clusters: int = 0
    silent_clusters: int = 0
    isolated_clusters: int = 0
    nodes: int = 0
    device_groups: int = 0
    unrecognised_groups: int = 0
    pools: int = 0
    pools_with_nodes: int = 0
    pools_without_maintainer: int = 0
    templates: int = 0
    runtimes: int = 0
    submitters: int = 0
    projects: int = 0
    grants: int = 0
    succeeded: int = 0  # jobs, on real clusters
    succeeded_simulated: int = 0
    training_succeeded: int = 0
    services_ran: int = 0
    releases: int = 0
    teams: int = 0  # below the organisation
    cells: int = 0
    classes: int = 0
    unrated_classes: int = 0
    entries: int = 0
    managers: int = 0
    auditors: int = 0
    lending_pools: int = 0
    opened_networks: int = 0  # beyond ordinary addresses
    nodes_with_topology: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """One line: what it is, how it stands and why, and the way to do it."""

    key: str
    title: str
    state: State
    why: str
    url: str = ""
    action: str = ""
    command: str = ""


def checklist(facts: SetupFacts) -> dict[Stage, list[Item]]:
    """The items of every stage, in the order they are best done."""
    return {Stage.SEE: _see(facts), Stage.RUN: _run(facts), Stage.SHARE: _share(facts), Stage.SPAN: _span(facts)}


def done_of(items: Sequence[Item]) -> tuple[int, int]:
    """How many are done, and how many can be."""
    return sum(i.state == "done" for i in items), sum(i.state != "impossible" for i in items)


def as_plain(facts: SetupFacts) -> Mapping[str, int]:
    """The facts by name."""
    return {field.name: getattr(facts, field.name) for field in fields(facts)}


def _see(f: SetupFacts) -> list[Item]:
    return [
        _item(
            "cluster", _("A cluster is attached"), f.clusters > 0,
            _("Real: {n}, simulated: {simulated}.").format(n=f.clusters, simulated=f.simulated_clusters),
            "cluster_list", command="./dev manage pilot",
        ),
        _item(
            "answers", _("Every attached cluster answers"),
            f.clusters + f.simulated_clusters > 0 and not f.silent_clusters,
            _("Silent: {n}.").format(n=f.silent_clusters), "cluster_list",
        ),
        _item("nodes", _("Nodes are known"), f.nodes > 0, _("Nodes: {n}.").format(n=units.number(f.nodes)),
              "node_list"),
        _recognised(f),
        _item(
            "pool", _("A pool groups nodes"), f.pools_with_nodes > 0,
            _("Pools with nodes: {n} of {all}.").format(n=f.pools_with_nodes, all=f.pools), "pool_list",
        ),
        _item(
            "maintainers", _("Every pool says whom to ask"), f.pools > 0 and not f.pools_without_maintainer,
            _("Pools that name nobody: {n}.").format(n=f.pools_without_maintainer), "pool_list",
        ),
        *_networks(f),
    ]  # fmt: skip


def _networks(f: SetupFacts) -> list[Item]:
    """Shown only where something was opened: in production nothing is."""
    if not f.opened_networks:
        return []
    why = _("PORTAL_CLUSTER_NETWORKS opens {n} more: for trying things out, not for production.")
    title = _("Clusters are reached at ordinary addresses only")
    return [_item("networks", title, False, why.format(n=f.opened_networks), "cluster_list")]


def _recognised(f: SetupFacts) -> Item:
    title = _("Every device is of a known class")
    if not f.device_groups:
        why = _("No node reports a device: there is nothing to recognise.")
        return Item("recognised", title, "impossible", why)
    why = _("Groups of devices without a class: {n} of {all}.").format(n=f.unrecognised_groups, all=f.device_groups)
    return _item("recognised", title, not f.unrecognised_groups, why, "class_list")


def _run(f: SetupFacts) -> list[Item]:
    return [
        _item(
            "templates", _("Templates are published"), f.templates > 0, _("Templates: {n}.").format(n=f.templates),
            "template_list", command="./dev manage pilot",
        ),
        _item("runtimes", _("A runtime is declared"), f.runtimes > 0, _("Runtimes: {n}.").format(n=f.runtimes),
              "runtime_list"),
        _item(
            "people", _("Somebody may submit"), f.submitters > 0,
            _("People: {n}, projects: {projects}.").format(n=f.submitters, projects=f.projects), "setup_pilot",
        ),
        _item(
            "grants", _("Their project may use a pool"), f.grants > 0,
            _("Grants valid now: {n}.").format(n=f.grants), "team_list",
        ),
        _ran("ran", _("A job ran to success"), f.succeeded, f.succeeded_simulated),
        _ran("training", _("A training job succeeded"), f.training_succeeded, 0),
        _ran("service", _("An inference service was up"), f.services_ran, 0),
        _item(
            "released", _("What a job held was seen free again"), f.releases > 0,
            _("Proofs of release: {n}.").format(n=_most(f.releases)), "job_list",
        ),
        _item(
            "isolation", _("Jobs are kept apart on every cluster"), 0 < f.clusters <= f.isolated_clusters,
            _("Real clusters that keep jobs apart: {n} of {all}; elsewhere only shipped templates run.").format(
                n=f.isolated_clusters, all=f.clusters
            ),
            "cluster_list",
        ),
    ]  # fmt: skip


def _most(count: int) -> str:
    """A count that may have been ended early, in words."""
    return units.number(count) if count <= ENOUGH else _("more than {n}").format(n=units.number(ENOUGH))


def _ran(key: str, title: str, real: int, simulated: int) -> Item:
    """Simulated runs prove nothing here; they are named and not counted."""
    why = _("On real clusters: {n}.").format(n=_most(real))
    if simulated and not real:
        why = _("On simulated clusters only: {n}, which proves nothing here.").format(n=_most(simulated))
    return _item(key, title, real > 0, why, "template_list")


def _share(f: SetupFacts) -> list[Item]:
    return [
        _item("teams", _("Two projects share a pool"), f.projects > 1 and f.grants > 0,
              _("Projects: {n}, teams: {teams}.").format(n=f.projects, teams=f.teams), "team_list"),
        _item("quotas", _("A quota says who may use how much"), f.cells > 0,
              _("Quota cells: {n}.").format(n=f.cells), "team_list"),
        _item(
            "rates", _("Every class has a rate in force"), f.classes > 0 and not f.unrated_classes,
            _("Unrated classes: {n} of {all}.").format(n=f.unrated_classes, all=f.classes), "class_list",
        ),
        _item("usage", _("Use was entered in the ledger"), f.entries > 0,
              _("Entries: {n}.").format(n=_most(f.entries)), "usage_by_project"),
        _item("manager", _("Somebody reads cost and usage"), f.managers > 0,
              _("Managers: {n}.").format(n=f.managers), "people"),
        _item("auditor", _("Somebody else reads the audit trail"), f.auditors > 0,
              _("Auditors: {n}.").format(n=f.auditors), "people"),
    ]  # fmt: skip


def _span(f: SetupFacts) -> list[Item]:
    real = _("Real: {n}, simulated: {simulated}.").format(n=f.clusters, simulated=f.simulated_clusters)
    return [
        _item("clusters", _("Two real clusters are attached"), f.clusters > 1, real, "cluster_list"),
        _item("lending", _("A pool lends what its owners leave idle"), f.lending_pools > 0,
              _("Pools that lend: {n}.").format(n=f.lending_pools), "pool_list"),
        _topology(f),
        Item(
            "equivalence", _("Classes that may stand in for each other are declared"), "impossible",
            _("This version knows no declared equivalence: a job stays with the class it names."),
        ),
    ]  # fmt: skip


def _topology(f: SetupFacts) -> Item:
    title = _("Nodes say how they are connected")
    if not f.nodes:
        return Item("topology", title, "impossible", _("No node is known yet."))
    why = _("Nodes with a topology: {n} of {all}.").format(n=f.nodes_with_topology, all=f.nodes)
    return _item("topology", title, f.nodes_with_topology > 0, why, "node_list")


def _item(key: str, title: str, done: bool, why: str, route: str = "", *, command: str = "") -> Item:
    url = address(route) if route else ""
    return Item(key, title, "done" if done else "not_yet", why, url, _("Show") if done else _("Go there"), command)
