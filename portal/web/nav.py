"""Navigation by role: at most eight entries, and only pages that exist."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tenants.roles import Role

MOST = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """A page of the navigation. `pages` are further URL names that light it up."""

    name: str
    label: str | Promise
    icon: str
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """An entry that can be shown now."""

    url: str
    label: str | Promise
    icon: str
    current: bool


HOME = Entry("home", _("Home"), "house")
TEMPLATES = Entry("template_list", _("Templates"), "layout-template", ("template_detail", "job_new"))
JOBS = Entry("job_list", _("Jobs"), "list", ("job_detail",))
SERVICES = Entry("service_list", _("Services"), "globe", ("service_detail",))
MY_USAGE = Entry("my_usage", _("My usage"), "chart-column")
REQUESTS = Entry("request_list", _("Requests"), "inbox", ("request_detail",))
TEAM = Entry("my_team", _("Team"), "users", ("team_detail", "project_detail"))
USAGE = Entry("usage_by_project", _("Usage"), "chart-column")
NODES = Entry("node_list", _("Nodes"), "server", ("node_detail",))
POOLS = Entry("pool_list", _("Pools"), "layers", ("pool_detail",))
SCHEDULER = Entry("scheduler", _("Scheduler"), "activity")
AUDIT = Entry("audit_list", _("Audit"), "scroll-text")

_RESEARCH = (HOME, TEMPLATES, JOBS, SERVICES, MY_USAGE, REQUESTS)
# The most far-reaching role first: its entries come first when a person holds several.
BY_ROLE: dict[Role, tuple[Entry, ...]] = {
    Role.PLATFORM_ADMIN: (HOME, NODES, POOLS, JOBS, SCHEDULER, AUDIT, USAGE),
    Role.POOL_ADMIN: (HOME, NODES, POOLS, JOBS),
    Role.AUDITOR: (HOME, AUDIT, JOBS, USAGE),
    Role.MANAGER: (HOME, USAGE, JOBS, POOLS),
    Role.LEAD: (HOME, TEAM, REQUESTS, JOBS, TEMPLATES, USAGE),
    Role.OWNER: _RESEARCH,
    Role.MEMBER: _RESEARCH,
    Role.VIEWER: (HOME, JOBS, MY_USAGE),
}


def nav_for(roles: Collection[Role], current: str) -> list[Item]:
    """The entries of all the roles held, without repeats; `current` is the URL name being served."""
    items: list[Item] = []
    for entry in _entries(roles):
        url = _url(entry.name)
        if url and len(items) < MOST:
            items.append(Item(url, entry.label, entry.icon, current == entry.name or current in entry.pages))
    return items


def main_role(roles: Collection[Role]) -> Role | None:
    """The role a person is addressed by: the most far-reaching one held."""
    return next((role for role in BY_ROLE if role in roles), None)


def _entries(roles: Collection[Role]) -> Iterator[Entry]:
    seen: set[str] = set()
    for role, entries in BY_ROLE.items():
        for entry in entries if role in roles else ():
            if entry.name not in seen:
                seen.add(entry.name)
                yield entry


def _url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
