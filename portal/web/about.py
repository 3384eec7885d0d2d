"""About this installation: what the product is, and what here is real, simulated or a demo."""

import platform
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from typing import Any

import django
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.lib.clock import utc_now
from portal.web.demo import CAST
from portal.web.stages import WORDS, Stage, is_on
from resources.models import Cluster
from tenants.models import User
from tenants.role_words import ROLE_WORDS

CLUSTERS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class ClusterLine:
    """A cluster and whether real devices stand behind it."""

    name: str
    simulated: bool
    location: str
    last_seen_at: datetime | None


@require_GET
def about(request: HttpRequest) -> HttpResponse:
    """For everyone; the inventory of a production installation only for those who are signed in."""
    return render(request, "portal/about.html", {**facts_for(request.user), "now": utc_now()})


def facts_for(user: Any) -> dict[str, Any]:
    """Version and stages for everyone; clusters, demo accounts and engines where the reader may know them."""
    demo = settings.MODE == "embedded" and settings.DEMO != "none"
    open_house = settings.MODE != "production" or bool(user.is_authenticated)
    return {
        "version": version(),
        "mode": settings.MODE,
        "demo": demo,
        "stages": [(WORDS[stage][0], is_on(stage)) for stage in Stage],
        "known": open_house,
        "clusters": _clusters() if open_house else [],
        "accounts": _accounts() if demo else [],
        "engines": _engines() if open_house else [],
    }


def version() -> str:
    """The version of the installed package, or of the checkout's project file."""
    try:
        return metadata.version("armillary")
    except metadata.PackageNotFoundError:
        text = (settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8")
        return next(line.split('"')[1] for line in text.splitlines() if line.startswith("version"))


def _clusters() -> list[ClusterLine]:
    rows = Cluster.objects.exclude(state=Cluster.State.DETACHED)[:CLUSTERS_SHOWN]
    return [ClusterLine(c.name, c.simulated or c.driver == "simulated", c.location, c.last_seen_at) for c in rows]


def _accounts() -> list[tuple[str, str, str]]:
    """User name, name and role of the demo cast as far as it is there; never a password."""
    there = set(User.objects.filter(username__in=[p.username for p in CAST]).values_list("username", flat=True))
    return [(p.username, p.name, str(ROLE_WORDS[p.role])) for p in CAST if p.username in there]


def _engines() -> list[tuple[str, str]]:
    server = connection.cursor().connection.info.server_version
    return [
        ("Python", platform.python_version()),
        ("Django", django.get_version()),
        ("PostgreSQL", f"{server // 10_000}.{server % 10_000}"),
        ("Celery", metadata.version("celery")),
    ]
