"""A cordon on a cluster itself: what is done next, by what was asked and what stands there."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.cordons import (
    ASKED,
    CLOSED,
    DRIFTED,
    GONE,
    LIFTED,
    LIFTING,
    NOT_OURS,
    NOTHING,
    SET,
    THEIRS,
    Step,
    Write,
    has_drifted,
    next_step,
)
from resources.drivers.kubernetes.cordon import MANAGER, MARK, cordon_of
from resources.drivers.steward import CordonSeen

OURS, ANOTHER = "mark-of-ours", "mark-of-another-portal"
OPEN = CordonSeen(cordoned=False, mark="", by_us=None)


@pytest.mark.parametrize(
    ("state", "seen", "wanted"),
    [
        (ASKED, OPEN, Step(SET, write=Write(cordoned=True, mark=OURS))),
        (ASKED, CordonSeen(cordoned=True, mark="", by_us=False), Step(THEIRS)),
        (ASKED, CordonSeen(cordoned=True, mark=ANOTHER, by_us=True), Step(THEIRS)),
        # written, and the answer was lost
        (ASKED, CordonSeen(cordoned=True, mark=OURS, by_us=True), Step(SET)),
        (ASKED, None, Step(CLOSED, GONE)),
        (LIFTING, CordonSeen(cordoned=True, mark=OURS, by_us=True), Step(CLOSED, LIFTED, Write(False, ""))),
        # a cluster that keeps no record of who wrote what: the mark must do
        (LIFTING, CordonSeen(cordoned=True, mark=OURS, by_us=None), Step(CLOSED, LIFTED, Write(False, ""))),
        # opened and closed again by others meanwhile: theirs stays, our mark goes
        (LIFTING, CordonSeen(cordoned=True, mark=OURS, by_us=False), Step(CLOSED, NOT_OURS, Write(True, ""))),
        (LIFTING, CordonSeen(cordoned=True, mark="", by_us=False), Step(CLOSED, NOT_OURS)),
        (LIFTING, CordonSeen(cordoned=False, mark=OURS, by_us=None), Step(CLOSED, NOTHING, Write(False, ""))),
        (LIFTING, OPEN, Step(CLOSED, NOTHING)),
        (LIFTING, None, Step(CLOSED, GONE)),
    ],
)
def test_what_comes_next(state: str, seen: CordonSeen | None, wanted: Step) -> None:
    assert next_step(state, OURS, seen) == wanted


SEEN = st.builds(
    CordonSeen,
    cordoned=st.booleans(),
    mark=st.sampled_from(["", OURS, ANOTHER]),
    by_us=st.sampled_from([True, False, None]),
)


@given(SEEN, st.sampled_from([ASKED, LIFTING, SET, THEIRS, DRIFTED]))
def test_nothing_is_opened_that_the_portal_did_not_close(seen: CordonSeen, state: str) -> None:
    write = next_step(state, OURS, seen).write
    if write is not None and seen.cordoned and not write.cordoned:
        assert (state, seen.mark) == (LIFTING, OURS) and seen.by_us is not False


@given(SEEN, st.sampled_from([ASKED, LIFTING]))
def test_a_step_taken_twice_ends_as_taken_once(seen: CordonSeen, state: str) -> None:
    first = next_step(state, OURS, seen)
    if first.write is None:
        return
    after = replace(seen, cordoned=first.write.cordoned, mark=first.write.mark)
    after = replace(after, by_us=True if after.cordoned and not seen.cordoned else seen.by_us)
    again = next_step(state, OURS, after)
    assert again.write is None and again.state == first.state


def test_only_what_stood_can_drift() -> None:
    assert [has_drifted(state, cordoned=False) for state in (ASKED, SET, THEIRS, DRIFTED, LIFTING)] == [
        False, True, True, False, False,
    ]  # fmt: skip
    assert not has_drifted(SET, cordoned=True)


@pytest.mark.parametrize("fields", [None, [], "x", [{"manager": MANAGER}], [{"fieldsV1": {"f:spec": 3}}]])
def test_without_a_record_nobody_is_on_record(fields: object) -> None:
    node = {"metadata": {"managedFields": fields, "annotations": {MARK: OURS}}, "spec": {"unschedulable": True}}
    assert cordon_of(node) == CordonSeen(cordoned=True, mark=OURS, by_us=None)


def test_who_wrote_the_cordon_is_on_record() -> None:
    fields = {"f:spec": {"f:unschedulable": {}}}
    for manager, by_us in ((MANAGER, True), ("kubectl-cordon", False)):
        about = {"managedFields": [{"manager": manager, "fieldsV1": fields}], "uid": "u", "resourceVersion": "7"}
        found = cordon_of({"metadata": about, "spec": {"unschedulable": True}})
        assert found == CordonSeen(cordoned=True, mark="", by_us=by_us, version="7", uid="u")


@pytest.mark.parametrize("annotations", [None, 7, {MARK: 7}, {MARK: "x" * 37}, {MARK: "a\nb"}])
def test_an_annotation_that_cannot_be_a_mark_is_none(annotations: object) -> None:
    assert cordon_of({"metadata": {"annotations": annotations}}).mark == ""
