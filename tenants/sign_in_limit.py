"""How often a sign-in may be tried for one user name from one address."""

from typing import Final

from portal.lib.limits import Limit

LIMIT: Final = Limit("sign_in", most=5, seconds=15 * 60)


def key_of(username: str, address: str) -> str:
    """What is counted together: upper and lower case of a name are one."""
    return f"{username.casefold()}|{address}"
