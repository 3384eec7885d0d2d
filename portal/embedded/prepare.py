"""Migrations and demo data in one process: each interpreter that loads Django costs a second of the start."""

import io
import os

import django
from django.conf import settings
from django.core.management import call_command


def main() -> None:
    """Bring the database to the newest schema and, outside production, to the demo data. Idempotent."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    call_command("migrate", interactive=False)
    if settings.MODE == "embedded":
        # Its output holds passwords, and this process writes to a log.
        call_command("seed_demo", stdout=io.StringIO())


if __name__ == "__main__":
    main()
