"""Where a kept file lies."""

from pathlib import Path

from jobs import storage
from jobs.models import Artifact


def kept_file(artifact: Artifact) -> Path | None:
    """The artifact's file; None for a folder, and for anything that is not below the data folder any more."""
    root = storage.data_root()
    path = Path(artifact.location)
    if not path.is_relative_to(root):
        return None
    inside = storage.within(root, str(path.relative_to(root)))
    return inside if inside is not None and inside.is_file() else None
