"""Migrations, demo data and a first look at the clusters, in one process: each interpreter that loads Django costs
a second of the start."""

import io
import os
from importlib import import_module

import django
from django.conf import settings
from django.core.management import call_command


def main() -> None:
    """Bring the database to the newest schema and, outside production, to the demo data and what is true of its
    clusters now. Idempotent."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    call_command("migrate", interactive=False)
    if settings.MODE == "embedded":
        # Its output holds passwords, and this process writes to a log.
        call_command("seed_demo", stdout=io.StringIO())
        # Else the first page would know of no node, or of one too long unseen, until the clock's first look.
        import_module("resources.tasks").sync_here()


if __name__ == "__main__":
    main()
