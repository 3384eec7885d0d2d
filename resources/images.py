"""Names of container images, read strictly: registry/repository[:tag][@sha256:digest]. Pure.

The grammar is that of the OCI distribution specification, with less of it: a registry is always named, nothing is
filled in, and all is ASCII.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from portal.lib.text import NOT_TEXT, BadInput, gettext_noop

LONGEST: Final = 500
NOT_AN_IMAGE = gettext_noop(
    'This names no image. Write registry/repository:tag or registry/repository@sha256:…, such as "{example}".'
)
NO_REGISTRY = gettext_noop("Name the registry first, such as registry.example: nothing is filled in here.")
NOT_ALLOWED = gettext_noop("Images of {registry} are not allowed here. Allowed: {allowed}.")
EXAMPLE: Final = "registry.example/team/pytorch:2.4"
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_REGISTRY = re.compile(rf"(?:{_LABEL})(?:\.{_LABEL}){{0,10}}(?::[1-9][0-9]{{0,4}})?", re.ASCII)
_PART = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-{1,8})[a-z0-9]+){0,40}", re.ASCII)
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Image:
    """The parts of a name; tag and digest may be ""."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def pinned(self) -> bool:
        """Whether it is always the same image: a tag may be moved, a digest cannot."""
        return bool(self.digest)


def read_image(value: object) -> Image:
    """The parts of a name. Raises BadInput."""
    if not isinstance(value, str):
        raise BadInput("NotText", NOT_TEXT)
    if len(value) > LONGEST or not value.isascii():
        raise _refusal()
    name, _at, digest = value.partition("@")
    registry, _slash, path = name.partition("/")
    repository, colon, tag = path.partition(":")
    if not path or not _is_host(registry):
        raise BadInput("NoRegistry", NO_REGISTRY)
    parts = repository.split("/")
    sound = len(parts) <= 16 and all(_PART.fullmatch(part) for part in parts)
    if not sound or (colon and not _TAG.fullmatch(tag)) or ("@" in value and not _DIGEST.fullmatch(digest)):
        raise _refusal()
    return Image(registry, repository, tag, digest)


def clean_image(value: object) -> str:
    """The name as it was written, without outer spaces; "" is none. Raises BadInput."""
    text = value.strip() if isinstance(value, str) else value
    if text == "":
        return ""
    read_image(text)
    return str(text)


def is_pinned(name: str) -> bool:
    """Whether a stored name has a digest."""
    return "@sha256:" in name


def require_registry(name: str, allowed: Collection[str]) -> None:
    """Raise BadInput for an image of another registry; without a list every one is allowed."""
    if name and allowed and registry_of(name) not in allowed:
        raise BadInput(
            "RegistryNotAllowed", NOT_ALLOWED, {"registry": registry_of(name), "allowed": ", ".join(allowed)}
        )


def registry_of(name: str) -> str:
    """The host of a stored name."""
    return name.partition("/")[0]


def _is_host(text: str) -> bool:
    """With a dot or a port, or localhost: else it is the first part of a repository whose registry is not named."""
    return bool(_REGISTRY.fullmatch(text)) and ("." in text or ":" in text or text == "localhost")


def _refusal() -> BadInput:
    return BadInput("NotAnImage", NOT_AN_IMAGE, {"example": EXAMPLE})
