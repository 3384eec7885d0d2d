"""Compute the audit chain again; exit 1 and name the first record that does not hold."""

import json
from dataclasses import asdict

from django.core.management.base import BaseCommand, CommandParser

from tenants.services.verify_audit import verify_audit


class Command(BaseCommand):
    """`manage.py verify-audit [--last N]`."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--last", type=int, help="only the last so many records (default: all)")

    def handle(self, *args: object, last: int | None = None, **options: object) -> None:
        """One JSON line on stdout, a sentence on stderr."""
        state = verify_audit(last=last)
        self.stdout.write(json.dumps({"ok": state.holds, **asdict(state)}))
        if state.holds:
            self.stderr.write(f"Audit records {state.first} to {state.last} hold together.")
            return
        self.stderr.write(f"Audit record {state.broken_at} does not hold: {state.reason}.")
        raise SystemExit(1)
