"""What is made of a refusal: a namespace that is going, one that is gone, or rights that were taken away."""

from typing import Any

import pytest

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.api import Refused
from resources.drivers.kubernetes.asked import pod_use
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.namespace import BELIEVED_S, Fate, Home
from resources.drivers.kubernetes.seen import is_copy, workloads_of
from tests.unit.drivers.kubernetes_things import NOW, job, pod

DENIED = DriverUnavailable("403", reason="AccessDenied")


class Says:
    """An API server that answers so to whoever asks for the namespace."""

    def __init__(self, **answers: dict[str, Any] | int) -> None:
        self.answers, self.asked = answers, 0

    def has(self, right: Right) -> bool:
        return right in self.answers

    def get(self, path: str, *, right: Right) -> dict[str, Any]:
        self.asked += 1
        answer = self.answers[right]
        if isinstance(answer, int):
            raise Refused(answer, "", path)
        return answer


THERE: dict[str, Any] = {"metadata": {"name": "ns"}}
GOING: dict[str, Any] = {"metadata": {"name": "ns", "deletionTimestamp": "2026-05-04T12:00:00Z"}}


@pytest.mark.parametrize(
    ("answers", "fate"),
    [
        ({"observer": GOING}, Fate.ENDING),
        ({"observer": 404}, Fate.GONE),
        ({"observer": THERE}, Fate.THERE),
        ({"observer": 403}, Fate.THERE),
        ({"observer": 403, "steward": GOING}, Fate.ENDING),
        ({"steward": 404}, Fate.GONE),
        ({}, Fate.THERE),
    ],
)
def test_only_who_may_read_the_namespace_says_that_it_is_gone(answers: dict[str, Any], fate: Fate) -> None:
    api = Says(**answers)
    assert Home(api, "ns").after(DENIED) is fate  # type: ignore[arg-type]
    asked = api.asked
    assert Home(api, "ns").after(DriverUnavailable("timeout", reason="Unreachable")) is Fate.THERE  # type: ignore[arg-type]
    assert api.asked == asked


def test_an_answer_is_believed_for_a_pass_and_not_for_ever() -> None:
    api, now = Says(observer=GOING), [0.0]
    home = Home(api, "ns", clock=lambda: now[0])  # type: ignore[arg-type]
    assert [home.after(DENIED) for _ in range(5)] == [Fate.ENDING] * 5 and api.asked == 1
    now[0] += BELIEVED_S + 1
    api.answers["observer"] = THERE
    assert home.after(DENIED) is Fate.THERE


def named(thing: dict[str, Any], workload: str) -> dict[str, Any]:
    thing["metadata"]["annotations"]["armillary/workload"] = workload
    return thing


def test_a_copy_is_known_by_the_name_it_was_made_under() -> None:
    ours, copy = named(pod(), "j-a"), named(pod(), "j-b")
    for one in (ours, copy):
        one["spec"]["containers"] = []
    assert (is_copy(ours), is_copy(copy), is_copy(pod())) == (False, True, False)
    assert (is_copy(named(job(), "j-a")), is_copy(named(job(), "j-b"))) == (False, True)
    (found,) = workloads_of([named(job(), "j-a")], [ours], NOW)
    assert found.members[0].uid == "uid-0"
    assert workloads_of([named(job(), "j-b")], [copy], NOW) == ()
    for one, mine in ((ours, True), (copy, False)):
        one["metadata"]["namespace"] = "ns"
        use = pod_use(one, namespace="ns")
        assert use is not None and use.ours is mine
