"""A plain client of an API server: one pool of connections, JSON in, JSON out, watches as iterators."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
ANSWER_SECONDS = 30.0
WATCH_SECONDS = 600

Json = dict[str, Any]


class Refused(Exception):
    """The API server said no: `status` is the HTTP code, `answer` its Status object."""

    def __init__(self, status: int, answer: Json) -> None:
        super().__init__(f"{status} {answer.get('reason', '')}: {answer.get('message', '')}")
        self.status = status
        self.answer = answer


class Gone(Exception):
    """A watch ended because its resourceVersion is too old: list again."""


class Api:
    """The API server of a kubeconfig that `state.write_kubeconfig` wrote."""

    def __init__(self, kubeconfig: Path, *, connections: int = 16) -> None:
        config = json.loads(kubeconfig.read_text(encoding="utf-8"))
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self.server: str = cluster["server"]
        self.pool = urllib3.PoolManager(
            ca_certs=cluster["certificate-authority"],
            cert_file=user["client-certificate"],
            key_file=user["client-key"],
            maxsize=connections,
            block=False,
            retries=False,
        )

    def get(self, path: str, **query: str) -> Json:
        """The object or list at the path."""
        return self._call("GET", path + _query(query))

    def create(self, path: str, body: Json) -> Json:
        """The new object."""
        return self._call("POST", path, body)

    def patch(self, path: str, body: Json, kind: str = STRATEGIC) -> Json:
        """The changed object."""
        return self._call("PATCH", path, body, kind)

    def delete(self, path: str, body: Json | None = None) -> Json:
        """The object or Status with which it was deleted."""
        return self._call("DELETE", path, body)

    def watch(self, path: str, version: str, **query: str) -> Iterator[tuple[str, Json]]:
        """(type, object) of each change after the version, bookmarks too, until the server ends it. Raises Gone."""
        asked = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true", **query}
        path += _query({"timeoutSeconds": str(WATCH_SECONDS), **asked})
        timeout = urllib3.Timeout(connect=5, read=WATCH_SECONDS + 30)
        response = self.pool.request("GET", self.server + path, preload_content=False, timeout=timeout)
        try:
            if response.status == 410:
                raise Gone
            rest = b""
            for chunk in response.stream(65_536):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise Gone
                    yield event["type"], event["object"]
        finally:
            response.close()

    def _call(self, method: str, path: str, body: Json | None = None, kind: str = "application/json") -> Json:
        headers = {"Accept": "application/json"} | ({"Content-Type": kind} if body is not None else {})
        encoded = None if body is None else json.dumps(body).encode()
        response = self.pool.request(method, self.server + path, body=encoded, headers=headers, timeout=ANSWER_SECONDS)
        answer: Json = json.loads(response.data)
        if response.status >= 400:
            raise Refused(response.status, answer)
        return answer


def _query(query: Mapping[str, str]) -> str:
    return f"?{urlencode(query)}" if query else ""
