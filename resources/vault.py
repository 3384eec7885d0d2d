"""Secrets sealed with a key that is not in the database, and opened again.

Each is sealed together with what it is about, so that one moved to another row does not open there.
"""

import json
import os
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

KEY_FILE: Final = "vault-key"


class CannotOpen(Exception):
    """Sealed with another key, about something else, too old, or no sealed text at all. Holds no secret."""


def seal(secret: str, *, about: str) -> str:
    """The secret as printable text that only this installation's keys open."""
    vault = _vault(_keys(make=True))
    return vault.encrypt(json.dumps([about, secret]).encode()).decode("ascii")


def unseal(sealed: str, *, about: str, within_s: int | None = None) -> str:
    """The secret. With `within_s` only one sealed that many seconds ago at most. Raises CannotOpen."""
    keys = _keys(make=False)
    if not keys:
        raise CannotOpen("no key")
    try:
        said, secret = json.loads(_vault(keys).decrypt(sealed.encode("ascii"), ttl=within_s))
    except (InvalidToken, UnicodeEncodeError, ValueError) as error:
        raise CannotOpen("another key, or damaged") from error
    if said != about:
        raise CannotOpen("about something else")
    return str(secret)


def reseal(sealed: str) -> str:
    """The same secret under the newest key. Raises CannotOpen."""
    try:
        return _vault(_keys(make=False)).rotate(sealed.encode("ascii")).decode("ascii")
    except (InvalidToken, ValueError) as error:
        raise CannotOpen("another key, or damaged") from error


def _keys(*, make: bool) -> tuple[str, ...]:
    """Those of the settings; without any, the one in the state folder, which `make` makes when there is none."""
    if settings.VAULT_KEYS:
        return tuple(settings.VAULT_KEYS)
    file = Path(settings.STATE_DIR) / KEY_FILE
    if make and not file.exists():
        _make(file)
    return (file.read_text(encoding="ascii").strip(),) if file.exists() else ()


def _make(file: Path) -> None:
    """A new key, readable by its owner only. Of two processes at once the first one's stays."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(Fernet.generate_key())
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


@lru_cache(maxsize=4)
def _vault(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
