"""Whether the namespace of the jobs is still there: whoever deletes it takes the runner's rights away with it.

From then on its pods are read with the observer's rights, and what can no longer be done is told as such.
"""

import time
from collections.abc import Callable
from enum import StrEnum

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right

BELIEVED_S = 10.0
"""How long an answer is gone by: every call of a pass would ask again."""


class Fate(StrEnum):
    """What became of it. `THERE` also while nobody may say."""

    THERE = "there"
    ENDING = "ending"
    GONE = "gone"


class Home:
    """The namespace, looked at once the runner is refused."""

    def __init__(self, api: Api, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._api, self.name, self._clock = api, name, clock
        self._known: tuple[Fate, float] = (Fate.THERE, 0.0)

    def after(self, error: DriverUnavailable) -> Fate:
        """What became of it, once a call of the runner ended so; THERE for every end but a refusal for want of rights.

        Raises DriverUnavailable.
        """
        if error.reason != "AccessDenied":
            return Fate.THERE
        fate, until = self._known
        if fate is Fate.THERE or until < self._clock():
            fate = self._asked()
            self._known = fate, self._clock() + BELIEVED_S
        return fate

    def _asked(self) -> Fate:
        for right in (Right.OBSERVER, Right.STEWARD):
            if not self._api.has(right):
                continue
            try:
                found = self._api.get(f"/api/v1/namespaces/{self.name}", right=right)
            except Refused as refusal:
                if refusal.status == 404:
                    return Fate.GONE
                continue
            return Fate.ENDING if "deletionTimestamp" in found["metadata"] else Fate.THERE
        return Fate.THERE
