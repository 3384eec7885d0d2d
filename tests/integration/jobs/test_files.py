"""A kept folder as one stream: its files, never what a link leads to, and never without a bound."""

import io
import tarfile
from pathlib import Path

import pytest

from jobs.models import Artifact
from jobs.selectors import files
from portal.lib.errors import Conflict
from tests import builders as make
from tests.cast import cast, cast_rows

__all__ = ["cast", "cast_rows"]


@pytest.fixture
def folder(cast, settings, tmp_path) -> tuple[Artifact, Path]:
    settings.STATE_DIR = tmp_path
    job = make.make_job(cast.alpha, cast.member, state="SUCCEEDED")
    held = make.make_allocation(job, cast.node, reserved=make.NOW)
    path = tmp_path / "data" / "project" / "dataset"
    (path / "part").mkdir(parents=True)
    (path / "a.txt").write_bytes(b"first")
    (path / "part" / "b.bin").write_bytes(bytes(1_000))
    row = Artifact.objects.create(
        project=cast.alpha,
        job=job,
        attempt=held.attempt,
        name="dataset",
        kind="dataset",
        location=str(path),
        bytes=1_005,
        sha256="0" * 64,
        created_at=make.NOW,
    )
    return row, path


def content(artifact: Artifact, path: Path) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(b"".join(files.tar_stream(artifact, path)))) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar.getmembers()}  # type: ignore[union-attr]


def test_a_folder_is_a_tar_of_its_files(folder):
    artifact, path = folder
    assert content(artifact, path) == {"dataset/a.txt": b"first", "dataset/part/b.bin": bytes(1_000)}
    assert files.kept_folder(artifact) == path and files.kept_file(artifact) is None


def test_links_and_pipes_are_left_out(folder, tmp_path):
    artifact, path = folder
    (tmp_path / "secret").write_text("not yours")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "secret").write_text("not yours")
    (path / "link").symlink_to(tmp_path / "secret")
    (path / "folder").symlink_to(tmp_path / "others")
    import os

    os.mkfifo(path / "pipe")
    assert set(content(artifact, path)) == {"dataset/a.txt", "dataset/part/b.bin"}


def test_a_file_that_became_a_link_after_the_listing_breaks_the_stream(folder, tmp_path):
    artifact, path = folder
    (tmp_path / "secret").write_text("not yours")
    stream = files.tar_stream(artifact, path)
    (path / "a.txt").unlink()
    (path / "a.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError, match="symbolic"):
        b"".join(stream)


def test_a_file_that_became_shorter_breaks_the_stream(folder):
    artifact, path = folder
    stream = files.tar_stream(artifact, path)
    (path / "part" / "b.bin").write_bytes(b"")
    with pytest.raises(OSError, match="shorter"):
        b"".join(stream)


@pytest.mark.parametrize(("name", "most"), [("MOST_FILES", 1), ("MOST_BYTES", 1_004)])
def test_a_folder_beyond_the_bounds_is_refused_before_the_first_byte(folder, monkeypatch, name, most):
    artifact, path = folder
    monkeypatch.setattr(files, name, most)
    with pytest.raises(Conflict) as refused:
        files.tar_stream(artifact, path)
    assert refused.value.reason == "FolderTooLarge"


def test_a_folder_outside_of_the_data_is_not_kept(folder, tmp_path):
    artifact, _path = folder
    for elsewhere in (tmp_path, tmp_path / "data" / ".." / "data", Path("/")):
        artifact.location = str(elsewhere)
        assert files.kept_folder(artifact) is None or elsewhere.resolve() == tmp_path / "data"
