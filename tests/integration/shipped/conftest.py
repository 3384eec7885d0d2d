"""A data set and a checkpoint made once by the real programs, read by all tests of this folder."""

from pathlib import Path

import pytest

from tests.integration.shipped.programs import Job

ROWS, FEATURES, STEPS = 3_000, 4, 300


@pytest.fixture(scope="package")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set of two parallel members."""
    given = {"rows": ROWS, "features": FEATURES, "noise": 0.2}
    job = Job("data_processing", tmp_path_factory.mktemp("data"), given, count=2)
    job.run().succeeded()
    return job.output / "dataset"


@pytest.fixture(scope="package")
def trained(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A training that ran without interruption."""
    given = {"steps": STEPS, "checkpoint_every": 100, "hidden_units": 16, "learning_rate": 0.2}
    job = Job("training", tmp_path_factory.mktemp("train"), given, {"dataset": dataset})
    job.run().succeeded()
    return job


@pytest.fixture(scope="package")
def checkpoint(trained: Job) -> Path:
    """The checkpoint of that training."""
    return trained.output / "checkpoint.npz"
