"""`manage.py check_translations`: every string has its Chinese, the catalogue is compiled, nothing is left over."""

import ast
import gettext
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

LOCALE = "zh_Hans"
Key = tuple[str, str]  # context and msgid


class Command(BaseCommand):
    """Exit 1 with one line for each string that is missing, untranslated, fuzzy or no longer used."""

    help = "Compare the Chinese catalogue with the strings in the source; needs GNU gettext."

    def handle(self, *args: Any, **options: Any) -> None:
        """Collects the strings anew into the catalogue, compares, and puts the catalogue back."""
        if shutil.which("xgettext") is None:
            raise CommandError("GNU gettext is needed for this check. Install it, e.g.: apt install gettext")
        problems = list(_problems())
        for line in problems:
            self.stderr.write(line)
        if problems:
            raise CommandError(f"{len(problems)} translations need work; see `manage.py makemessages -l {LOCALE}`.")
        self.stdout.write("translations are complete")


def catalogue() -> Path:
    """The Chinese catalogue's source."""
    return Path(settings.LOCALE_PATHS[0]) / LOCALE / "LC_MESSAGES" / "django.po"


def read_po(text: str) -> dict[Key, tuple[list[str], bool]]:
    """Entries of a catalogue: (context, msgid) -> (translations, fuzzy). The header is left out."""
    found: dict[Key, tuple[list[str], bool]] = {}
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#~")]
        fuzzy = any(line.startswith("#,") and "fuzzy" in line for line in lines)
        fields = _fields(line for line in lines if not line.startswith("#"))
        if fields.get("msgid"):
            texts = [value for name, value in fields.items() if name.startswith("msgstr")]
            found[fields.get("msgctxt", ""), fields["msgid"]] = (texts, fuzzy)
    return found


def _fields(lines: Iterator[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in lines:
        quoted = line
        if not line.startswith('"'):
            name, _, quoted = line.partition(" ")
            fields[name] = ""
        fields[name] += ast.literal_eval(quoted)
    return fields


def _problems() -> Iterator[str]:
    path = catalogue()
    before = path.read_bytes()
    try:
        call_command("makemessages", locale=[LOCALE], ignore_patterns=[".venv", "tests"], no_obsolete=True, verbosity=0)
        wanted = read_po(path.read_text(encoding="utf-8"))
    finally:
        path.write_bytes(before)
    have = read_po(before.decode())
    for key in wanted.keys() - have.keys():
        yield f"missing: {key[1]!r}"
    for key in have.keys() - wanted.keys():
        yield f"no longer used: {key[1]!r}"
    for key, (texts, fuzzy) in have.items():
        if fuzzy or not all(texts):
            yield f"{'fuzzy' if fuzzy else 'untranslated'}: {key[1]!r}"
    yield from _compiled(path)


def _compiled(path: Path) -> Iterator[str]:
    """The .mo must be what the .po compiles to: it is shipped, because users have no msgfmt."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "django.mo"
        done = subprocess.run(
            ["msgfmt", "--check-format", "-o", str(fresh), str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            yield done.stderr.strip()
            return
        compiled = path.with_suffix(".mo")
        if not compiled.exists() or _texts(compiled) != _texts(fresh):
            yield "the compiled catalogue is old: run `manage.py compilemessages -l zh_Hans`"


def _texts(path: Path) -> dict[Any, str]:
    with path.open("rb") as file:
        return {k: v for k, v in gettext.GNUTranslations(file)._catalog.items() if k}  # type: ignore[attr-defined]
