"""The demo installation: an organisation, a cast of people, this machine as a real cluster, and a simulated fleet.

Idempotent: what is there is left alone. `seed_demo` is quick and comes before the first page; `seed_fleet` comes
behind it.
"""

from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import Model

from jobs.services.publish_shipped_templates import publish_shipped_templates
from portal.lib.partitions import ensure_partitions
from portal.web.demo.machine import LOCAL, MONTHS_BACK, founded, seed_machine
from portal.web.demo.organisation import seed_machine_rules, seed_root, seed_tree
from portal.web.demo.people import ALONE, CAST, Person, accounts_file, seed_people
from resources.models import Pool
from tenants.notify.quiet import quietly

__all__ = ["CAST", "Person", "accounts_file", "seed_demo"]


def seed_demo(*, now: datetime, accounts: Path) -> list[dict[str, str]]:
    """The accounts [{username, name, role, password}], made on the first call and read back later.

    With PORTAL_DEMO=none there is one, of the administrator who sets everything up.
    """
    ensure_partitions(now, back=MONTHS_BACK)
    empty = settings.DEMO == "none"
    with quietly(), transaction.atomic():
        scopes = seed_root(now) if empty else _seed(now)
        publish_shipped_templates(now=now)
    with quietly():
        cast, since = (ALONE, now) if empty else (CAST, founded(now))
        return seed_people(cast, scopes, now=since, accounts=accounts)


def _seed(now: datetime) -> dict[str, Model]:
    scopes = seed_tree(founded(now))
    seed_machine(now)
    seed_machine_rules(scopes, now)
    return {**scopes, LOCAL: Pool.objects.get(key=LOCAL)}
