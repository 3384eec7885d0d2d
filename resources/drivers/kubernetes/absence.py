"""Whether what a list lacks is really gone. A list can be short without a word about it: a proxy, a cache, a bug.

What was there in the list before is asked for by name before anybody may conclude anything from its absence.
"""

import threading
from dataclasses import dataclass, field, replace

from resources.drivers.kubernetes.api import Api, Listing, Refused
from resources.drivers.kubernetes.connection import Right

MOST = 50
"""Names asked for after one list; when more are missing the list is not believed this time."""


@dataclass
class Absence:
    """What was last listed, by collection."""

    api: Api
    _known: dict[str, frozenset[str]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def checked(self, path: str, listing: Listing, *, right: Right) -> Listing:
        """The list, incomplete when something it lacks is there. Raises DriverUnavailable."""
        listed = frozenset(str((item.get("metadata") or {}).get("name", "")) for item in listing.items)
        with self._lock:
            missing = sorted(self._known.get(path, frozenset()) - listed)
        gone = {name for name in missing[:MOST] if not self._exists(f"{path}/{name}", right)}
        left = [name for name in missing if name not in gone]
        with self._lock:
            # More than may be asked for at once: those that are left are asked for after the next list.
            self._known[path] = listed | frozenset(left)
        return replace(listing, complete=listing.complete and not left)

    def _exists(self, path: str, right: Right) -> bool:
        try:
            self.api.get(path, right=right)
        except Refused as refusal:
            if refusal.status == 404:
                return False
            raise
        return True
