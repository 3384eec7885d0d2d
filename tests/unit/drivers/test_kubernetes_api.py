"""The API client on answers that a test gives, on a clock that the test turns."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.api import LIST_S, REWOUND_S, Api
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.pace import FAILURES
from resources.drivers.kubernetes.transport import Transport

CONNECTION = Connection("https://lab.example.org", "", {Right.RUNNER: Credential(token="token-of-the-runner")})


class Answers(Transport):
    """Gives what the test says; every call takes as long as the test says."""

    def __init__(self, answer: Callable[[str], bytes]) -> None:
        self.answer, self.now, self.takes_s, self.calls = answer, 1_000.0, 0.0, 0

    def call(self, method: str, path: str, **_more: Any) -> tuple[int, Mapping[str, str], bytes]:
        self.calls += 1
        self.now += self.takes_s
        return 200, {}, self.answer(path)

    def api(self) -> Api:
        return Api(CONNECTION, open_transport=lambda *_: self, clock=lambda: self.now, sleep=self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds


def page(version: int, token: str = "") -> bytes:
    about = {"resourceVersion": str(version), "continue": token}
    return json.dumps({"kind": "PodList", "metadata": about, "items": [{"metadata": {"name": "p"}}]}).encode()


def test_a_page_of_a_portal_that_says_200_to_everything_opens_the_breaker() -> None:
    server = Answers(lambda _path: b"<html>Please log in</html>")
    api = server.api()
    reasons = []
    for _ in range(FAILURES + 1):
        with pytest.raises(DriverUnavailable) as failure:
            api.list("/pods", right=Right.RUNNER)
        reasons.append(failure.value.reason)
    assert reasons == ["NotAnApiServer"] * FAILURES + ["CircuitOpen"]


def test_a_list_without_end_is_given_up_after_its_time() -> None:
    tokens: Iterator[int] = iter(range(10**9))
    server = Answers(lambda _path: page(7, str(next(tokens))))
    server.takes_s = 9.0
    began = server.now
    with pytest.raises(DriverUnavailable) as failure:
        server.api().list("/pods", right=Right.RUNNER)
    assert (failure.value.reason, server.now - began <= LIST_S + 2 * server.takes_s) == ("ListTooSlow", True)


def versions(server: Answers, api: Api, *found: int, every_s: float) -> list[bool]:
    complete = []
    for version in found:
        server.answer = lambda _path, version=version: page(version)  # type: ignore[misc]
        server.now += every_s
        complete.append(api.list("/pods", right=Right.RUNNER).complete)
    return complete


def test_a_cluster_that_was_restored_from_a_backup_is_believed_again_after_a_while() -> None:
    server = Answers(lambda _path: page(1))
    api = server.api()
    assert versions(server, api, 900, 905, every_s=1) == [True, True]
    assert versions(server, api, 100, 101, 102, every_s=REWOUND_S / 4) == [False, False, False]
    assert versions(server, api, 140, 180, 181, every_s=REWOUND_S / 4) == [False, True, True]
    assert versions(server, api, 150, every_s=1) == [False], "what is known now counts"


def test_a_cache_that_stands_still_or_comes_and_goes_is_never_believed() -> None:
    server = Answers(lambda _path: page(1))
    api = server.api()
    assert versions(server, api, 900, every_s=1) == [True]
    assert versions(server, api, *[100] * 20, every_s=REWOUND_S / 4) == [False] * 20
    assert versions(server, api, *[901, 100, 110] * 5, every_s=REWOUND_S / 2) == [True, False, False] * 5
