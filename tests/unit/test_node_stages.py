"""The stage of a node from what its cluster says, what an operator wants, and what the portal has seen."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.admission import AUTOMATIC, Change, GroupFacts, changes_of, ground_of, next_run
from resources.stages import HOLDS, Standing, stage_of, standing_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)
FLAGS = ("required", "proved", "voided", "running", "failed", "quarantined")
STANDINGS = list(Standing)


def standing(**given: bool) -> Standing:
    return standing_of(**dict.fromkeys(FLAGS, False) | given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ""),
        ({"required": True}, "NotValidated"),
        ({"required": True, "running": True}, "Validating"),
        ({"required": True, "proved": True}, ""),
        ({"required": True, "failed": True}, "ValidationFailed"),
        ({"required": True, "voided": True}, "ValidationVoid"),
        ({"required": True, "proved": True, "quarantined": True}, "Quarantined"),
        ({"quarantined": True, "running": True}, "Validating"),
    ],
)
def test_what_stands_against_it(given, expected):
    assert standing(**given) == expected


def test_nothing_unproved_is_in_service_where_proof_is_required():
    for values in product((False, True), repeat=len(FLAGS)):
        given = dict(zip(FLAGS, values, strict=True))
        stage = stage_of("", ready=True, schedulable=True, standing=standing_of(**given))
        in_service = stage == "schedulable"
        assert in_service == (
            (given["proved"] or not given["required"]) and not given["running"] and not given["quarantined"]
        )


@given(st.sampled_from(("", *HOLDS)), st.booleans(), st.booleans(), st.sampled_from(STANDINGS))
def test_only_a_node_that_everybody_agrees_on_takes_jobs(held, ready, schedulable, against):
    stage = stage_of(held, ready=ready, schedulable=schedulable, standing=against)
    assert (stage == "schedulable") == (not held and ready and schedulable and not against)
    assert (stage == "validating") == (not held and ready and schedulable and against == Standing.VALIDATING)
    if held == "retired":
        assert stage == "retired"


def test_what_changed_is_named_fact_by_fact():
    was = ground_of("containerd://1", [GroupFacts("v/gpu", "A", "535", 8), GroupFacts("v/none", "", "", 0)])
    now = ground_of("containerd://1", [GroupFacts("v/gpu", "A", "550", 7), GroupFacts("v/npu", "N", "", 2)])
    assert changes_of(was, was) == []
    assert changes_of(was, now) == [
        Change("v/gpu driver", "535", "550"),
        Change("v/gpu devices", "8", "7"),
        Change("v/npu model", "", "N"),
        Change("v/npu devices", "0", "2"),
    ]


def test_a_failure_is_repeated_a_few_times_with_growing_pauses():
    due = [next_run(failures, NOW) for failures in range(1, AUTOMATIC + 2)]
    pauses = [moment - NOW for moment in due if moment]
    assert len(pauses) == AUTOMATIC - 1 and pauses == sorted(set(pauses)) and pauses[0] >= timedelta(minutes=1)
    assert due[AUTOMATIC - 1 :] == [None, None]
