"""`manage.py seed_fleet`: add the simulated clusters and eight weeks of their past to a demo installation."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.lib.clock import utc_now
from portal.web.demo.progress import Progress, tell_progress
from portal.web.demo.seed import JOBS, seed_fleet

EVERY = 20
"""Jobs between two reports."""


class Command(BaseCommand):
    """Idempotent; refuses to run in production."""

    help = "Add three simulated clusters and their past to the demo installation; reports its progress on stderr."

    def add_arguments(self, parser: CommandParser) -> None:
        """How much of a past."""
        parser.add_argument("--jobs", type=int, default=JOBS, help="jobs of the past (default %(default)s)")

    def handle(self, *args: Any, jobs: int, **options: Any) -> None:
        """The number of jobs on stdout."""
        if settings.MODE == "production":
            raise CommandError("A production installation gets no demo data.")
        if not 1 <= jobs <= 20_000:
            raise CommandError("Between 1 and 20000 jobs.")
        try:
            done = seed_fleet(now=utc_now(), tell=self._tell, jobs=jobs)
        finally:
            tell_progress(None)
        self.stdout.write(f"{done}")

    def _tell(self, stage: str, done: int, total: int) -> None:
        if done % EVERY:
            return
        # Deciding about the past takes most of the time; the rest is writing it down.
        tell_progress(Progress(done if stage == "replay" else 0 if stage == "plan" else total, max(total, done)))
        if done % (10 * EVERY) == 0:
            self.stderr.write(f"demo fleet: {stage} {done} of {total or '?'}")
