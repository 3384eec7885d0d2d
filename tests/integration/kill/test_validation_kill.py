"""A worker is killed at each named point of a validation: the next asks for no second job, the node gets in once."""

import pytest

from portal.lib.failpoints import FAILPOINTS
from tests.integration.kill.test_failpoints import Nursery, _assert_killed, nursery

__all__ = ["nursery"]
POINTS = [point for point in FAILPOINTS if point.startswith("jobs.validate.")]


@pytest.mark.parametrize("point", POINTS)
def test_after_a_kill_a_node_is_validated_by_one_job(nursery: Nursery, point: str) -> None:
    before = {row["id"] for row in nursery.rows("SELECT id::text FROM jobs_job")}
    assert nursery.do("ask_validation") == "discovered"
    _assert_killed(nursery.work("validate", armed=f"{point}=kill"))
    proved = nursery.do("validate")
    (job,) = {row["id"] for row in nursery.rows("SELECT id::text FROM jobs_job")} - before
    assert proved == job
    nursery.do("settle", job=job)
    (node,) = nursery.rows("SELECT id::text, stage, trial_job FROM resources_node")
    assert (node["stage"], node["trial_job"]) == ("schedulable", None)
    audited = nursery.rows(
        "SELECT verb, after FROM tenants_auditevent WHERE target_id IN (%s, %s) ORDER BY seq", job, node["id"]
    )
    assert [row["verb"] for row in audited if row["verb"] == "job.submitted"] == ["job.submitted"]
    told = [row for row in audited if row["verb"] == "node.validated" and row["after"]["job"] == job]
    assert len(told) == 1
