"""The cast: who signs in at a demo installation, and their accounts."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db.models import Model

from tenants.models import User
from tenants.roles import Role
from tenants.services.grant_role import grant_role


@dataclass(frozen=True, slots=True)
class Person:
    """One of the cast: user name, display name, role, and the name of the scope it is held in."""

    username: str
    name: str
    role: Role
    scope: str


CAST = (
    Person("admin", "Mira Okafor", Role.PLATFORM_ADMIN, "organisation"),
    Person("pooladmin", "Rosa Adeyemi", Role.POOL_ADMIN, "local"),
    Person("auditor", "Ana Ruiz", Role.AUDITOR, "organisation"),
    Person("manager", "Tomas Berg", Role.MANAGER, "organisation"),
    Person("lead", "Lin Chen", Role.LEAD, "models"),
    Person("owner", "Jun Sato", Role.OWNER, "inspection"),
    Person("researcher", "Wei Xia", Role.MEMBER, "inspection"),
    Person("viewer", "Noor Haddad", Role.VIEWER, "inspection"),
    Person("lead-vision", "Shen Yu", Role.LEAD, "vision"),
    Person("researcher-vision", "Qiao Min", Role.MEMBER, "imaging"),
    Person("lead-systems", "Lin Yue", Role.LEAD, "systems"),
    Person("researcher-systems", "Ida Moreau", Role.MEMBER, "forecasting"),
)
ALONE = CAST[:1]
"""Of an empty installation: the one who sets it up."""


def seed_people(
    cast: tuple[Person, ...], scopes: Mapping[str, Model], *, now: datetime, accounts: Path
) -> list[dict[str, str]]:
    """The accounts [{username, name, role, password}], made on the first call and read back later.

    Passwords are random per installation and kept in the state folder, readable by its owner only.
    """
    known = _read(accounts)
    rows = []
    for person in cast:
        password = known.get(person.username) or secrets.token_urlsafe(9)
        user = User.objects.filter(username=person.username).first()
        if user is None:
            user = User.objects.create_user(person.username, password=password, display_name=person.name)
        elif person.username not in known:
            # The file was lost: a new password is the only way back in.
            user.set_password(password)
            user.save(update_fields=["password"])
        grant_role(actor=None, user=user, role=person.role, scope=scopes[person.scope], now=now)
        rows.append({"username": person.username, "name": person.name, "role": person.role, "password": password})
    _write(accounts, rows)
    return rows


def _read(path: Path) -> dict[str, str]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {row["username"]: row["password"] for row in rows}


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(rows, file, ensure_ascii=False, indent=1)
    part.rename(path)


def accounts_file() -> Path:
    """Where the demo accounts are kept."""
    return Path(settings.STATE_DIR) / "demo-accounts.json"
