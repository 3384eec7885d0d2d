"""Whether what a list lacks is really gone. A list can be short without a word about it: a proxy, a cache, a bug.

What was there in the list before is asked for by name before anybody may conclude anything from its absence.
"""

import threading
from dataclasses import dataclass, field, replace
from typing import TypeVar

from resources.drivers.kubernetes.api import Api, Listing, Refused
from resources.drivers.kubernetes.connection import Right

T = TypeVar("T")
MOST = 50
"""Names asked for after one list; when more are missing the list is not believed this time."""


@dataclass
class Absence:
    """What was last listed, by collection."""

    api: Api
    _known: dict[str, frozenset[str]] = field(default_factory=dict, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def checked(self, path: str, listing: Listing[T], *, right: Right) -> Listing[T]:
        """The list, incomplete when something it lacks is there. Raises DriverUnavailable."""
        with self._lock:
            missing = sorted(self._known.get(path, frozenset()) - listing.names)
        gone = {name for name in missing[:MOST] if not self._exists(f"{path}/{name}", right)}
        left = [name for name in missing if name not in gone]
        with self._lock:
            # More than may be asked for at once: those that are left are asked for after the next list.
            self._known[path] = listing.names | frozenset(left)
        return replace(listing, complete=listing.complete and not left)

    def _exists(self, path: str, right: Right) -> bool:
        try:
            self.api.get(path, right=right)
        except Refused as refusal:
            if refusal.status == 404:
                return False
            raise
        return True
