"""A job combines a runtime only with what it is declared for, and runs only in pools that take it."""

import pytest

from jobs.runtimes import Need, RuntimeOffer, admits, fitting

CPU = RuntimeOffer("cpu", ("CPU",))
GPU = RuntimeOffer("gpu", ("GPU",), classes=("a80",), image="r.example/a:1")
TRAIN = RuntimeOffer("train", ("CPU", "GPU"), task_types=("training",), image="r.example/b:1")


def fit(task: str = "batch", device_class: str = "", kind: str = "CPU", *, image: bool = False) -> list[str]:
    return [row.key for row in fitting([CPU, GPU, TRAIN], Need(task, device_class, kind, image))]


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ({}, ["cpu"]),
        ({"task": "training"}, ["cpu", "train"]),
        ({"task": "training", "image": True}, ["train"]),
        ({"image": True}, []),
        ({"device_class": "a80", "kind": "GPU"}, ["gpu"]),
        ({"device_class": "a40", "kind": "GPU"}, []),
        ({"device_class": "a40", "kind": "GPU", "task": "training"}, ["train"]),
        ({"device_class": "n1", "kind": "NPU", "task": "training"}, []),
    ],
)
def test_only_what_is_declared_fits(asked, given):
    assert fit(**asked) == given


@pytest.mark.parametrize(
    ("rules", "job", "taken"),
    [
        (([], []), ("batch", "x"), True),
        ((["training"], []), ("batch", None), False),
        ((["batch"], ["x"]), ("batch", "x"), True),
        (([], ["x"]), ("batch", "y"), False),
        (([], ["x"]), ("batch", ""), False),
        (([], ["x"]), ("batch", None), True),
    ],
)
def test_an_empty_rule_takes_every_one(rules, job, taken):
    assert admits(*rules, *job) is taken
