"""Chance that is no chance: the same seed and words always give the same number. Pure."""

from dataclasses import dataclass
from hashlib import blake2b


def roll(seed: int, *words: object, of: int) -> int:
    """A number from 0 to `of` - 1, evenly spread over seeds and words."""
    text = "\0".join((str(seed), *map(str, words)))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) % of


def mark(*words: object, length: int) -> str:
    """That many hexadecimal digits, at most 64, for ids."""
    return blake2b("\0".join(map(str, words)).encode(), digest_size=32).hexdigest()[:length]


@dataclass(frozen=True, slots=True)
class Span:
    """A duration between two bounds, in milliseconds, both inclusive."""

    low: int
    high: int

    def draw(self, seed: int, *words: object) -> int:
        """The duration that these words have."""
        return self.low + roll(seed, *words, of=self.high - self.low + 1)
