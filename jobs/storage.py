"""Where a job's files lie on the portal's own machine. Keys, never names, make the paths."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from jobs.models import Attempt, Job


@dataclass(frozen=True, slots=True)
class JobFolders:
    """Outputs belong to an attempt, checkpoints to the job: a later attempt resumes from them."""

    output: Path
    checkpoints: Path
    archive: Path


def data_root() -> Path:
    """The folder all projects' files lie in."""
    return Path(settings.STATE_DIR) / "data"


def folders(job: Job, attempt: Attempt) -> JobFolders:
    """The folders of one attempt; nothing is created here."""
    base = data_root() / job.project_id.hex / job.id.hex
    own = base / f"attempt-{attempt.number}"
    return JobFolders(output=own / "output", checkpoints=base / "checkpoints", archive=own / "archive")


def within(root: Path, relative: str) -> Path | None:
    """The path below `root` that `relative` names, or None when it leads outside or through a link."""
    candidate = root / relative
    try:
        resolved = candidate.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # ValueError: a NUL or half a surrogate pair in the name
        return None
    inside = resolved.is_relative_to(root.resolve()) and not candidate.is_symlink()
    return resolved if inside else None
