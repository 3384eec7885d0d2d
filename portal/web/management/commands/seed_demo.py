"""`manage.py seed_demo`: make the demo installation and print its accounts."""

import json
from typing import Any

from django.core.management.base import BaseCommand

from portal.lib.clock import utc_now
from portal.web.demo import accounts_file, seed_demo


class Command(BaseCommand):
    """Idempotent; refuses to run in production."""

    help = "Make the demo organisation, its people and this machine's pool; print the accounts as JSON lines."

    def handle(self, *args: Any, **options: Any) -> None:
        """One JSON object per account on stdout."""
        for row in seed_demo(now=utc_now(), accounts=accounts_file()):
            self.stdout.write(json.dumps(row, ensure_ascii=False))
