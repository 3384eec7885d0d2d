"""Given a job that waits, what would let it start; and whatever is offered does."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, Wait
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import WHOLE_DEVICE, Snapshot
from jobs.scheduler.unblock import Change, Unblocker, unblockers
from tests.scenarios.given import HOUR, MINUTE, NOON, Given, a_lab, alternative
from tests.scenarios.worlds import snapshots

QUICK = Rules(forecast_steps=0)


def offers(lab: Given, key: str = "a", **facts: object) -> dict[Change, Unblocker]:
    snapshot = lab.snapshot()
    job = next(job for job in snapshot.waiting if job.key == key)
    found = unblockers(snapshot, QUICK, job, **facts)  # type: ignore[arg-type]
    assert len({offer.change for offer in found}) == len(found)
    return {offer.change: offer for offer in found}


def test_a_smaller_size_the_next_end_and_more_nodes() -> None:
    lab = a_lab("n1", "n2").running("r", "n1", 6, ends_in=HOUR).running("s", "n2", 8, ends_in=2 * HOUR)
    found = offers(lab.job("a", 2, replicas=4))
    assert found[Change.SHRINK].facts == {"replicas": 1, "of": 4}
    assert found[Change.END].facts == {"t": NOON + HOUR, "jobs": ("r",)}
    more = found[Change.MORE].facts
    assert (more["replicas"], more["lines"][0].amount) == (3, 6 * WHOLE_DEVICE)
    assert found.keys() == {Change.SHRINK, Change.END, Change.MORE}


def test_fewer_cards_of_the_only_replica() -> None:
    found = offers(a_lab("n1").running("r", "n1", 3).job("a", 8))
    assert found[Change.SHRINK].facts == {"devices": 5, "of": 8}


def test_every_quota_on_the_path_that_is_too_small_is_named_with_what_is_enough() -> None:
    lab = Given().tenant("team").tenant("lab", "team").pool("train").hosts(("n1",), 8)
    lab.quota("lab", nominal=4).quota("team", nominal=6).running("r", "n1", 3, tenant="lab")
    (offer,) = [o for change, o in offers(lab.job("a", 4, tenant="lab")).items() if change is Change.QUOTA]
    assert {cell.tenant: cell.nominal for cell in offer.facts["cells"]} == {
        "lab": 7 * WHOLE_DEVICE,
        "team": 7 * WHOLE_DEVICE,
    }


def test_quota_is_not_offered_where_there_would_be_no_room_either() -> None:
    lab = a_lab("n1").quota("lab", nominal=4).running("r", "n1", 7)
    assert Change.QUOTA not in offers(lab.job("a", 4))


def test_a_limit_short_enough_to_pass_before_the_room_is_needed() -> None:
    lab = a_lab("n1").running("r", "n1", 4, ends_in=HOUR + 30_000).job("large", 8)
    found = offers(lab.job("a", 4))
    assert found[Change.LIMIT].facts == {"limit": HOUR}


def test_a_pool_or_a_class_one_may_use_as_well() -> None:
    lab = a_lab("n1").running("r", "n1", 8).pool("spare").host("m1", 8, pool="spare", of="v100").device_class("v100")
    found = offers(lab.job("a", 4, pools=("train", "spare")), others=(alternative("v100", 1, cards=4, of="v100"),))
    assert found[Change.OTHER].facts == {"alternative": "v100"}
    lab = a_lab("n1").running("r", "n1", 8).pool("spare").host("m1", 8, pool="spare")
    assert offers(lab.job("a", 4))[Change.POOL].facts == {"pool": "Spare", "pool_key": "spare"}


def test_a_node_that_is_out_of_service() -> None:
    lab = a_lab("n1").host("n2", 8, blocked="cordoned").running("r", "n1", 8)
    assert offers(lab.job("a", 8))[Change.NODE].facts == {"node": "n2", "node_key": "n2", "cause": "cordoned"}


def test_what_others_ahead_would_take_is_not_offered() -> None:
    """The smaller size fits now, but two earlier jobs would take the room that any end gives."""
    lab = a_lab("n1").running("r", "n1", 8, ends_in=MINUTE).job("first", 8).job("a", 8)
    assert Change.END not in offers(lab)


def test_nothing_is_offered_to_a_job_that_starts() -> None:
    assert offers(a_lab("n1").job("a", 1)) == {}


few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@few
@given(snapshots(pod_sets=2))
def test_whatever_is_offered_lets_the_job_start_in_the_next_pass(snapshot: Snapshot) -> None:
    world = replace(snapshot, waiting=tuple(replace(job, max_wait_ms=None) for job in snapshot.waiting))
    for decision in cycle(world, QUICK).decisions:
        if isinstance(decision, Wait):
            job = next(job for job in world.waiting if job.key == decision.job)
            for offer in unblockers(world, QUICK, job, others=(alternative("old", 1, cards=1, of="old"),)):
                changed = offer.edit(world)
                assert changed != world
                answer = next(d for d in cycle(changed, QUICK).decisions if d.job == job.key)
                assert isinstance(answer, Admit), (offer.change, offer.facts, answer)
