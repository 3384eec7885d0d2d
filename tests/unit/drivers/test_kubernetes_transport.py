"""What is not even begun to be read."""

import time
from typing import Any

import pytest

from resources.drivers.kubernetes.transport import MOST_BYTES, TransportError, _whole


class Answer:
    """A response that announces its length and must not be read."""

    def __init__(self, length: str) -> None:
        self.headers = {"Content-Length": length}
        self.closed = self.released = False

    def read1(self, _amount: int) -> bytes:
        """Nothing, or a failure where nothing should have been asked for."""
        assert int(self.headers["Content-Length"]) <= MOST_BYTES, "it was read"
        return b""

    def close(self) -> None:
        """Given up."""
        self.closed = True

    def release_conn(self) -> None:
        """Kept for the next call."""
        self.released = True


def read(answer: Any) -> bytes:
    return _whole(answer, time.monotonic() + 1.0)


def test_an_answer_that_announces_too_much_is_given_up_unread() -> None:
    answer = Answer(str(1 << 30))
    with pytest.raises(TransportError, match="larger than"):
        read(answer)
    assert answer.closed


def test_an_answer_that_announces_little_is_read() -> None:
    answer = Answer("0")
    assert read(answer) == b"" and answer.released
