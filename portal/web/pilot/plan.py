"""What a pilot needs, and what of it is there already. PURE: facts in, steps out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from portal.lib.text import name_key

TEMPLATES = ("train-network", "serve-checkpoint")
"""The one for training and the one for inference."""

Kind = Literal["cluster", "runtime", "pool", "team", "project", "template", "grant", "role"]


@dataclass(frozen=True, slots=True)
class Pilot:
    """What was asked for. `people` are user names by project, the first of each is its owner."""

    team: str
    projects: tuple[str, str]
    lead: str
    people: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is there: keys are name keys of what people call things, values what the database calls them."""

    cluster: str  # key of the real cluster to use, "" when none is attached
    runtime: bool  # what the shipped templates ask for is in the catalogue
    pool: str  # key of the pool that holds its nodes, "" when none does
    team: str  # slug, "" when there is none of that name
    projects: Mapping[str, str]  # slug by name key, of the team
    granted: bool  # the team may use the pool now
    templates: frozenset[str]  # slugs that are published
    roles: frozenset[tuple[str, str, str]]  # user name, role, name key of the scope
    slugs: frozenset[str] = field(default_factory=frozenset)  # taken by anything


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the pilot needs: `name` as people say it, `key` as the database will."""

    kind: Kind
    name: str
    key: str
    there: bool
    role: str = ""
    scope: str = ""


def plan(pilot: Pilot, facts: Facts) -> list[Step]:
    """The steps in the order they can be taken. Applying those that are not there makes every step there."""
    team = facts.team or free_slug(pilot.team, facts.slugs)
    taken = facts.slugs | {team}
    steps = [
        Step("cluster", facts.cluster or "local", facts.cluster or "local", bool(facts.cluster)),
        Step("runtime", "python-local", "python-local", facts.runtime),
        Step("pool", facts.pool or "pilot", facts.pool or "pilot", bool(facts.pool)),
        Step("team", pilot.team, team, bool(facts.team)),
    ]
    for name in pilot.projects:
        known = facts.projects.get(name_key(name), "")
        slug = known or free_slug(name, taken)
        taken |= {slug}
        steps.append(Step("project", name, slug, bool(known)))
    steps += [Step("template", slug, slug, slug in facts.templates) for slug in TEMPLATES]
    steps.append(Step("grant", facts.pool or "pilot", team, facts.granted))
    return steps + [
        Step("role", person, person, (person, role, name_key(scope)) in facts.roles, role, scope)
        for person, role, scope in roles_of(pilot)
    ]


def roles_of(pilot: Pilot) -> list[tuple[str, str, str]]:
    """Who gets which role where, each once."""
    wanted = [(pilot.lead, "lead", pilot.team)] if pilot.lead else []
    for name, people in zip(pilot.projects, pilot.people, strict=True):
        wanted += [(person, "member" if place else "owner", name) for place, person in enumerate(people)]
    return list(dict.fromkeys(wanted))


def free_slug(name: str, taken: frozenset[str] | set[str]) -> str:
    """A slug for a name in any script: its ASCII letters and digits, else a digest; a number where it is taken."""
    ascii_part = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower())
    words = "-".join(part for part in ascii_part.split("-") if part)[:50].strip("-")
    base = words or f"p-{sha256(name_key(name).encode()).hexdigest()[:8]}"
    number, slug = 2, base
    while slug in taken or slug == "new":
        slug, number = f"{base}-{number}", number + 1
    return slug


def twice(names: Sequence[str]) -> str:
    """The first name that could be taken for another of these, "" when all differ."""
    seen: set[str] = set()
    for name in names:
        if name_key(name) in seen:
            return name
        seen.add(name_key(name))
    return ""
