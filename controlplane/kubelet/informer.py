"""A list kept current by a watch, with every ending of the watch survived."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from controlplane.api import Api, Gone

Json = dict[str, Any]
AGAIN_SECONDS = 0.5


class Informer:
    """Calls `seen(kind, object)` for what is (ADDED) and for each change (MODIFIED, DELETED), in a thread of its own.

    After a new list, objects that vanished meanwhile come as DELETED.
    """

    def __init__(self, api: Api, path: str, seen: Callable[[str, Json], None], **query: str) -> None:
        self.api = api
        self.path = path
        self.seen = seen
        self.query = query
        self.known: dict[str, Json] = {}
        self.listed = threading.Event()

    def start(self) -> None:
        """Begin; `listed` is set after the first whole list."""
        threading.Thread(target=self._run, daemon=True, name=f"watch {self.path}").start()

    def _run(self) -> None:
        version = ""
        while True:
            try:
                version = version or self._list()
                for kind, thing in self.api.watch(self.path, version, **self.query):
                    version = thing["metadata"]["resourceVersion"]
                    if kind != "BOOKMARK":
                        self._note(kind, thing)
            except Gone:
                version = ""
            except Exception as error:
                sys.stderr.write(f"watch {self.path}: {error!r}\n")
                version = ""
                time.sleep(AGAIN_SECONDS)

    def _list(self) -> str:
        answer = self.api.get(self.path, **self.query)
        items = {item["metadata"]["uid"]: item for item in answer.get("items") or []}
        for uid in [uid for uid in self.known if uid not in items]:
            self._note("DELETED", self.known[uid])
        for item in items.values():
            self._note("ADDED", item)
        self.listed.set()
        version: str = answer["metadata"]["resourceVersion"]
        return version

    def _note(self, kind: str, thing: Json) -> None:
        uid = thing["metadata"]["uid"]
        if kind == "DELETED":
            self.known.pop(uid, None)
        else:
            self.known[uid] = thing
        self.seen(kind, thing)
