"""Navigation by role: at most eight entries, and tabs within a section; only pages that exist and are on."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.web.stages import page_is_on
from tenants.roles import Role

MOST = 8


@dataclass(frozen=True, slots=True)
class Tab:
    """A page of a section and the roles that may open it; None is everyone. `pages` are below it."""

    name: str
    label: str | Promise
    roles: frozenset[Role] | None = None
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Pages that belong together; each of them shows the tabs of all."""

    label: str | Promise
    tabs: tuple[Tab, ...]

    @property
    def pages(self) -> tuple[str, ...]:
        """Every URL name of the section."""
        return tuple(name for tab in self.tabs for name in (tab.name, *tab.pages))


@dataclass(frozen=True, slots=True)
class Entry:
    """A page of the navigation, or the first page of a section. `pages` are further URL names that light it up."""

    name: str
    label: str | Promise
    icon: str
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """An entry or tab that can be shown now."""

    url: str
    label: str | Promise
    icon: str
    current: bool
    count: int | None = None


_FLEET = frozenset({Role.PLATFORM_ADMIN, Role.POOL_ADMIN, Role.AUDITOR, Role.MANAGER})
_ADMIN = frozenset({Role.PLATFORM_ADMIN})
_ADMIN_OR_AUDITOR = frozenset({Role.PLATFORM_ADMIN, Role.AUDITOR})
_USERS = frozenset({Role.OWNER, Role.MEMBER, Role.LEAD})
_READS_USAGE = frozenset(Role) - {Role.POOL_ADMIN}
_CLUSTER_PAGES = (
    "cluster_detail",
    "cluster_edit",
    "cluster_new",
    "cluster_register",
    "cluster_connect",
    "cluster_access",
    "credential_rotate",
    "credential_remove",
    "cluster_attach",
    "cluster_pause",
    "cluster_detach",
)
_NODE_PAGES = ("node_detail", "node_cordon", "node_drain", "node_retire", "node_release", "node_validate", "node_admit")
_CLASS_PAGES = (
    "class_detail",
    "class_new",
    "class_edit",
    "class_retire",
    "rate_publish",
    "fact_declare",
    "fact_withdraw",
    "equivalence_declare",
    "equivalence_withdraw",
)
_RUNTIME_PAGES = ("runtime_detail", "runtime_new", "runtime_edit", "runtime_retire")
_VENDOR_PAGES = ("vendor_row_new", "vendor_row_edit", "vendor_row_remove")

RESOURCES = Section(
    _("Resources"),
    (
        Tab("cluster_list", _("Clusters"), _FLEET, _CLUSTER_PAGES),
        Tab("node_list", _("Nodes"), _FLEET, _NODE_PAGES),
        Tab("device_list", _("Devices"), _FLEET),
        Tab(
            "pool_list",
            _("Pools"),
            None,
            ("pool_detail", "pool_new", "pool_edit", "pool_rules", "pool_admission", "pool_delete"),
        ),
        Tab("class_list", _("Classes"), None, _CLASS_PAGES),
        Tab("runtime_list", _("Runtimes"), None, _RUNTIME_PAGES),
        Tab("validation_matrix", _("Validation")),
        Tab("vendor_row_list", _("Vendor rows"), _FLEET, _VENDOR_PAGES),
        Tab("data_list", _("Data"), None),
    ),
)
TENANCY = Section(
    _("Tenancy"),
    (
        Tab("team_list", _("Teams"), None, ("team_detail", "project_detail", "team_new", "project_new")),
        Tab("project_list", _("Projects"), None),
        Tab("people", _("People"), _ADMIN_OR_AUDITOR, ("person_detail", "person_new")),
        Tab("role_list", _("Roles"), _ADMIN_OR_AUDITOR),
    ),
)
WORK = Section(
    _("Jobs"),
    (
        Tab("job_list", _("Jobs"), None, ("job_detail",)),
        Tab("queue_page", _("Queue")),
        Tab("service_list", _("Services"), None, ("service_detail",)),
        Tab("artifact_list", _("Artifacts"), None, ("artifact_detail",)),
    ),
)
USE = Section(
    _("Usage"),
    (
        Tab("my_usage", _("My usage"), _USERS),
        Tab("usage_by_project", _("By project"), _READS_USAGE),
    ),
)
SECTIONS = (RESOURCES, TENANCY, WORK, USE)

HOME = Entry("home", _("Home"), "house")
TEMPLATES = Entry("template_list", _("Templates"), "layout-template", ("template_detail", "job_new"))
JOBS = Entry("job_list", _("Jobs"), "list", WORK.pages)
SERVICES = Entry("service_list", _("Services"), "globe", ("service_detail",))
RESEARCH_JOBS = Entry("job_list", _("Jobs"), "list", ("job_detail", "queue_page", "artifact_list", "artifact_detail"))
MY_USAGE = Entry("my_usage", _("My usage"), "chart-column", ("job_usage",))
USAGE = Entry("usage_by_project", _("Usage"), "chart-column", ("my_usage", "job_usage"))
REQUESTS = Entry("request_list", _("Requests"), "inbox", ("request_detail",))
TEAM = Entry("my_team", _("Team"), "users", TENANCY.pages)
TEAMS = Entry("team_list", _("Tenancy"), "users", (*TENANCY.pages, "my_team"))
AUDIT = Entry("audit_list", _("Audit"), "scroll-text")
SETUP = Entry("setup", _("Setup"), "list-checks", ("setup_pilot",))
FLEET = Entry("cluster_list", _("Resources"), "server", RESOURCES.pages)
FLEET_OF_POOL = Entry("node_list", _("Resources"), "server", RESOURCES.pages)
FLEET_TO_USE = Entry("pool_list", _("Resources"), "server", RESOURCES.pages)

_RESEARCH = (HOME, TEMPLATES, RESEARCH_JOBS, SERVICES, MY_USAGE, REQUESTS, TEAM, FLEET_TO_USE)
# The most far-reaching role first: its entries come first when a person holds several.
BY_ROLE: dict[Role, tuple[Entry, ...]] = {
    Role.PLATFORM_ADMIN: (HOME, FLEET, FLEET_OF_POOL, TEAMS, JOBS, TEMPLATES, USAGE, AUDIT, SETUP),
    Role.POOL_ADMIN: (HOME, FLEET_OF_POOL, JOBS),
    Role.AUDITOR: (HOME, AUDIT, JOBS, USAGE, FLEET, FLEET_OF_POOL, TEAMS),
    Role.MANAGER: (HOME, USAGE, JOBS, FLEET, FLEET_OF_POOL, TEAMS),
    Role.LEAD: (HOME, TEAM, REQUESTS, JOBS, TEMPLATES, USAGE, FLEET_TO_USE),
    Role.OWNER: _RESEARCH,
    Role.MEMBER: _RESEARCH,
    Role.VIEWER: (HOME, JOBS, USAGE, FLEET_TO_USE),
}


def nav_for(roles: Collection[Role], current: str) -> list[Item]:
    """The entries of all the roles held, without repeats; `current` is the URL name being served."""
    shown: dict[str, tuple[str, Entry]] = {}
    for entry in _entries(roles):
        url = address(entry.name)
        if url and len(shown) < MOST:
            shown.setdefault(str(entry.label), (url, entry))
    here = _current([entry for _, entry in shown.values()], current)
    return [Item(url, entry.label, entry.icon, entry is here) for url, entry in shown.values()]


def tabs_for(roles: Collection[Role], current: str) -> list[Item]:
    """The tabs of the section whose list page is being served, as far as the reader may open them.

    None for a page below a tab, which has a head and tabs of its own, and none where one tab would stand alone.
    """
    section = next((s for s in SECTIONS if current in {tab.name for tab in s.tabs}), None)
    tabs = [
        Item(url, tab.label, "", tab.name == current)
        for tab in (section.tabs if section else ())
        if (url := address(tab.name)) and (tab.roles is None or tab.roles & set(roles))
    ]
    return tabs if len(tabs) > 1 else []


def section_of(current: str) -> str:
    """What the section of this page is called, "" for none."""
    return next((str(s.label) for s in SECTIONS if current in s.pages), "")


def main_role(roles: Collection[Role]) -> Role | None:
    """The role a person is addressed by: the most far-reaching one held."""
    return next((role for role in BY_ROLE if role in roles), None)


def address(name: str) -> str:
    """The path of a page without arguments; "" for one that does not exist, or whose stage is off."""
    try:
        return reverse(name) if page_is_on(name) else ""
    except NoReverseMatch:
        return ""


def _current(entries: Sequence[Entry], current: str) -> Entry | None:
    """The entry the page belongs to: its own, else the first that holds it."""
    own = (entry for entry in entries if entry.name == current)
    return next(own, None) or next((entry for entry in entries if current in entry.pages), None)


def _entries(roles: Collection[Role]) -> Iterator[Entry]:
    for role, entries in BY_ROLE.items():
        yield from entries if role in roles else ()
