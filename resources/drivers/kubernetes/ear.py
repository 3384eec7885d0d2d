"""Hearing of changes between two looks: bounded watches whose events are hints and carry no facts.

What a watch says is not believed, and what it does not say is in the next list.
"""

from collections.abc import Callable, Mapping
from typing import Any

from resources.drivers.base import Topic
from resources.drivers.kubernetes import names
from resources.drivers.kubernetes.api import Api
from resources.drivers.kubernetes.connection import Right

NODES = "/api/v1/nodes"
Json = Mapping[str, Any]


class Ear:
    """What was heard of one cluster. Each topic is listened to by one thread at a time."""

    def __init__(self, api: Api, pods: str) -> None:
        self._api, self._pods = api, pods
        self._nodes: dict[str, int] = {}

    def listen(self, topic: Topic, *, seconds: float, hint: Callable[[], None]) -> None:
        """See `resources.drivers.base.Listener`. Of nodes only what a look would show is a change: they write to say
        that they live."""
        if topic is Topic.WORKLOADS:
            for _pod in self._api.watch(self._pods, right=Right.RUNNER, within_s=seconds, labelSelector=names.ATTEMPT):
                hint()
            return
        for node in self._api.watch(NODES, right=Right.OBSERVER, within_s=seconds):
            if self._is_news(node):
                hint()

    def _is_news(self, node: Json) -> bool:
        name, now = str((node.get("metadata") or {}).get("name")), hash(_told(node))
        before, self._nodes[name] = self._nodes.get(name), now
        return now != before


def _told(node: Json) -> str:
    """What of a node a look would show, without the times at which it said so, and without annotations: device plugins
    write theirs all the time."""
    about, status = node.get("metadata") or {}, node.get("status") or {}
    conditions = [(c.get("type"), c.get("status"), c.get("reason")) for c in status.get("conditions") or []]
    facts = (about.get("labels"), about.get("deletionTimestamp"), node.get("spec"))
    return repr((*facts, conditions, status.get("capacity"), status.get("allocatable"), status.get("nodeInfo")))
