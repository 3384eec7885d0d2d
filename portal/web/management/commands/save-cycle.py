"""Save what the next scheduling pass would begin with, facts and rules, as one file; nothing is decided or changed."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from jobs.scheduler.rules import Rules
from jobs.scheduler.saved import SavedCycle
from jobs.selectors.snapshot import load_snapshot
from portal.lib.clock import utc_now


class Command(BaseCommand):
    """`manage.py save-cycle FILE`. The file names projects, teams, pools and nodes; a support bundle carries it."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a file that is not there yet")

    def handle(self, *args: object, file: Path, **options: object) -> None:
        """Says how much it holds."""
        saved = SavedCycle(Rules(), load_snapshot(now=utc_now()))
        try:
            with file.open("xb") as opened:
                opened.write(saved.to_json())
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        waiting, hosts = len(saved.snapshot.waiting), len(saved.snapshot.hosts)
        self.stderr.write(f"{waiting} waiting jobs, {hosts} nodes, {len(saved.snapshot.holdings)} holdings saved.")
