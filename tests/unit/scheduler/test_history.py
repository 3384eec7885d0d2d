"""Recorded jobs as shapes to learn from."""

from jobs.scheduler.history import recorded
from jobs.scheduler.snapshot import WHOLE_DEVICE, Alternative, Asked, PodSet
from tests.scenarios.given import alternative, lines

W = WHOLE_DEVICE
PLAIN = tuple(sorted(lines(cores=4, gib=8)))


def test_every_replica_counts_and_equal_shapes_are_one_row() -> None:
    one, four = (alternative("only", replicas, cards=1, cores=4, gib=8) for replicas in (1, 4))
    assert recorded([((one,), 3), ((four,), 2)]) == (Asked(("a100",), W, PLAIN, 11),)


def test_all_classes_that_a_job_accepts_alike_are_named() -> None:
    ways = tuple(alternative(of, cards=2, cores=4, gib=8, of=of) for of in ("h100", "a100"))
    other = alternative("more", cards=4, cores=4, gib=8, of="old")
    assert recorded([((*ways, other), 1)]) == (Asked(("a100", "h100"), 2 * W, PLAIN, 1),)


def test_each_pod_set_is_a_shape_and_one_without_devices_names_no_class() -> None:
    sets = (PodSet("head", 1, lines(cores=4, gib=8)), PodSet("workers", 2, lines(1, 4, 8)))
    assert recorded([((Alternative("only", sets),), 5)]) == (Asked((), 0, PLAIN, 5), Asked(("a100",), W, PLAIN, 10))


def test_nothing_recorded_is_nothing_to_learn() -> None:
    assert recorded([]) == ()
    assert recorded([((), 3), ((alternative(cards=1),), 0)]) == ()
