"""How often a sign-in may be tried for one user name from one address."""

import unicodedata
from typing import Final

from portal.lib.limits import Limit

LIMIT: Final = Limit("sign_in", most=5, seconds=15 * 60)


def key_of(username: str, address: str) -> str:
    """What is counted together: every spelling that the sign-in form takes for the same name."""
    name = unicodedata.normalize("NFKC", username).strip().casefold()
    return f"{name}|{address}"
