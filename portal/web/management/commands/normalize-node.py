"""Read Kubernetes nodes or resource slices from files and print what they say about their devices."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from resources.normalize import RefusedDocument, as_json, parse_document, read_document
from resources.normalize.documents import MAX_TEXT
from resources.normalize.reasons import sentence


class Command(BaseCommand):
    """`manage.py normalize-node FILE…`: one JSON document per line, in the order given. Needs no service."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON of a Node or ResourceSlice")
        parser.add_argument("--json", action="store_true", help="on one line each; otherwise indented")

    def handle(self, *args: object, files: list[Path], **options: object) -> None:
        """Prints every reading, then fails when a file could not be read."""
        refused = 0
        for path in files:
            found = _reading(path)
            refused += "error" in found
            self.stdout.write(_text(found, indent=None if options["json"] else 1))
        if refused:
            raise CommandError(f"{refused} of {len(files)} files could not be read.")


def _reading(path: Path) -> dict[str, Any]:
    try:
        return as_json(read_document(parse_document(_content(path))))
    except RefusedDocument as refused:
        reason = refused.reason
        error = {"reason": reason.name, "message": sentence(reason), "facts": dict(reason.facts), "file": str(path)}
        return {"error": error}


def _content(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(MAX_TEXT + 1)
    except UnicodeDecodeError as error:
        raise RefusedDocument("NotJson") from error
    except OSError as error:
        raise RefusedDocument("FileUnreadable") from error


def _text(found: dict[str, Any], *, indent: int | None) -> str:
    return json.dumps(found, indent=indent, ensure_ascii=True)
