"""Decide a saved scheduling pass again and print its decisions: the same bytes every time and on every machine."""

import hashlib
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.scheduler.saved import SavedCycle


class Command(BaseCommand):
    """`manage.py replay-cycle FILE`. Needs no service."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="what save-cycle wrote")

    def handle(self, *args: object, file: Path, **options: object) -> None:
        """The decisions as one line of JSON on stdout, numbers and their digest on stderr."""
        try:
            saved = SavedCycle.from_json(file.read_bytes())
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        except ValueError as error:
            raise CommandError(f"{file} is no saved pass: {error}") from error
        result = saved.decide()
        text = result.to_json()
        self.stdout.write(text.decode())
        stats = result.stats
        self.stderr.write(
            f"{stats.waiting} waiting, {stats.admitted} admitted, {stats.stopped} to be stopped; "
            f"decisions sha256 {hashlib.sha256(text).hexdigest()}"
        )
