"""Make the smallest pilot: one pool, one team with two projects, a training and an inference template."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.lib.clock import utc_now
from portal.lib.errors import DomainError
from portal.web.pilot import apply_pilot, planned


class Command(BaseCommand):
    """`manage.py pilot --team NAME --project NAME --project NAME --people A,B --people C [--lead L] [--dry-run]`."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--team", required=True, help="name of the team")
        parser.add_argument("--lead", default="", help="user name of its lead")
        parser.add_argument("--project", action="append", required=True, help="name of a project; give it twice")
        parser.add_argument(
            "--people",
            action="append",
            required=True,
            help="user names of a project, separated by commas; the first is its owner; give it twice",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be made and make nothing")

    def handle(self, *args: object, dry_run: bool, **given: Any) -> None:
        """One JSON line per step on stdout, a sentence on stderr."""
        projects, people = given["project"], given["people"]
        if len(projects) != len(people) or len(projects) != len(("first", "second")):
            raise CommandError("A pilot has two projects: give --project and --people twice each.")
        asked = {
            "team": given["team"],
            "lead": given["lead"],
            **{f"project_{n}": name for n, name in enumerate(projects, 1)},
            **{f"people_{n}": names for n, names in enumerate(people, 1)},
        }
        try:
            steps = (
                planned(asked, utc_now())[1] if dry_run else apply_pilot(actor=None, given=asked, now=utc_now()).steps
            )
        except DomainError as error:
            raise CommandError(_sentences(error)) from error
        for step in steps:
            state = "there" if step.there else "would be made" if dry_run else "made"
            self.stdout.write(
                json.dumps({"kind": step.kind, "name": step.name, "key": step.key, "state": state}, ensure_ascii=False)
            )
        missing = sum(not step.there for step in steps)
        self.stderr.write(f"{missing} of {len(steps)} steps {'would be' if dry_run else 'were'} taken.")


def _sentences(error: DomainError) -> str:
    options = {"project_1": "--project", "project_2": "--project", "people_1": "--people", "people_2": "--people"}
    return " ".join(f"{options.get(e.field, f'--{e.field}')}: {e.text()}" for e in error.fields) or error.text()
