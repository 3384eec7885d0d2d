"""Pieces of logs that the API gives by whole seconds: nothing twice, nothing lost, and what is missing is named."""

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes import logs as module
from resources.drivers.kubernetes.logs import FAR, LEFT_OUT, ROTATED, LogReader, Places
from resources.drivers.kubernetes.stamped import SECOND, Place, lines_of

BEGAN = 1_800_000_000 * SECOND


class Node:
    """A log as a kubelet gives it: by sinceTime (whole seconds), tailLines and limitBytes."""

    def __init__(self, lines: list[tuple[int, bytes]]) -> None:
        self.lines, self.asked, self.bytes = lines, 0, 0

    def text(self, _path: str, *, right: object, limitBytes: str, sinceTime: str = "", tailLines: str = "",  # noqa: N803
             **_more: Any) -> bytes:  # fmt: skip
        self.asked += 1
        lines = self.lines
        if sinceTime:
            since = int(datetime.fromisoformat(sinceTime.replace("Z", "+00:00")).timestamp()) * SECOND
            lines = [line for line in lines if line[0] >= since]
        if tailLines:
            lines = lines[-int(tailLines) :]
        whole = b"".join(stamp(at) + text for at, text in lines)
        answer = whole[: int(limitBytes)]
        self.bytes += len(answer)
        return answer

    def whole(self) -> bytes:
        return b"".join(text for _at, text in self.lines)

    def reader(self, places: Places | None = None) -> LogReader:
        return LogReader(self, "/log", pod="uid", node="n1", places=places or Places())  # type: ignore[arg-type]


def stamp(at: int) -> bytes:
    second = datetime.fromtimestamp(at // SECOND, UTC)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{at % SECOND:09}Z ".encode()


def spoken(count: int, *, every_ns: int, size: int = 50) -> list[tuple[int, bytes]]:
    return [(BEGAN + n * every_ns, b"%08d " % n + b"." * (size - 10) + b"\n") for n in range(count)]


def read_all(reader: LogReader, limit: int) -> tuple[bytes, int]:
    pieces, offset = [], 0
    while True:
        data, following = reader.read(offset, limit)
        assert len(data) == following - offset
        if not data:
            return b"".join(pieces), offset
        pieces.append(data)
        offset = following


@pytest.mark.parametrize("limit", [7, 50, 333, 10_000])
@pytest.mark.parametrize("every_ns", [0, 1_000, 40_000_000, 2 * SECOND])
def test_pieces_of_any_size_make_the_whole(limit: int, every_ns: int) -> None:
    node = Node(spoken(60, every_ns=every_ns))
    assert read_all(node.reader(), limit) == (node.whole(), len(node.whole()))


def test_odd_lines_are_read_as_they_are() -> None:
    texts = [b"\n", b"a\rb\n", b"2026-01-01T00:00:00Z said the program\n", b"\xff\x00\n", "数\n".encode(), b"no end"]
    node = Node([(BEGAN + n // 2, text) for n, text in enumerate(texts)])
    for limit in (1, 2, 5, 100):
        assert read_all(node.reader(), limit)[0] == node.whole()


def test_a_long_log_is_read_once_and_not_from_its_beginning_for_every_piece() -> None:
    node = Node(spoken(2_000, every_ns=SECOND // 20, size=1_000))
    text, _ = read_all(node.reader(), 100_000)
    assert text == node.whole()
    assert node.bytes < 4 * len(text), "from the beginning for each of twenty pieces, it would be ten times"


def test_what_is_written_meanwhile_follows() -> None:
    lines, node, rng = spoken(500, every_ns=SECOND // 9), Node([]), random.Random(3)
    reader, got, offset = node.reader(), b"", 0
    while len(node.lines) < len(lines) or offset < len(node.whole()):
        node.lines = lines[: len(node.lines) + rng.randrange(20)]
        data, offset = reader.read(offset, rng.randrange(1, 900))
        got += data
    assert got == node.whole()


def test_a_log_that_was_rotated_says_that_lines_are_missing() -> None:
    lines = spoken(100, every_ns=SECOND)
    node = Node(lines[:20])
    reader = node.reader()
    first, offset = reader.read(0, 10_000)
    node.lines = lines[60:]
    second, _ = reader.read(offset, 100_000)
    assert first + second == Node(lines[:20]).whole() + ROTATED + node.whole()
    node.lines = []
    assert reader.read(offset + len(second), 1_000)[0] == b"", "nothing new, nothing to say"


def test_more_in_a_second_than_an_answer_holds_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 100_000)
    monkeypatch.setattr(module, "PIECE", 8_192)
    burst = [(BEGAN + n, b"x" * 99 + b"\n") for n in range(1_500)]
    node = Node([*burst, (BEGAN + 2 * SECOND, b"the end\n")])
    text, _ = read_all(node.reader(), 8_192)
    assert text.endswith(b"x\n" + LEFT_OUT + b"the end\n") or text.endswith(LEFT_OUT + b"the end\n")
    assert text[: text.index(LEFT_OUT)] == node.whole()[: text.index(LEFT_OUT)]


def test_an_offset_is_found_again_by_who_never_read_the_log() -> None:
    node = Node(spoken(1_000, every_ns=SECOND // 3))
    assert node.reader().read(12_345, 100) == (node.whole()[12_345:12_445], 12_445)
    assert node.reader().read(10**9, 100) == (b"", 10**9)


def test_the_way_to_a_far_offset_is_gone_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIECE", 1_000)
    node, places, now = Node(spoken(1_000, every_ns=SECOND // 3)), Places(), iter(range(10**6))
    reader = LogReader(
        node,
        "/log",
        pod="uid",
        node="n1",
        places=places,
        clock=lambda: float(next(now)),  # type: ignore[arg-type]
    )
    reasons = []
    while True:
        try:
            data, _ = reader.read(40_000, 50)
            break
        except DriverUnavailable as error:
            reasons.append(error.reason)
    assert data == node.whole()[40_000:40_050] and 1 < len(reasons) < 10 and set(reasons) == {"LogUnfinished"}


def test_the_end_of_a_short_log_has_its_true_offset() -> None:
    node = Node(spoken(100, every_ns=SECOND))
    assert node.reader().read(-70, 1_000) == (node.whole()[-70:], len(node.whole()))
    assert node.reader().read(-(10**6), 10**6) == (node.whole(), len(node.whole()))
    assert Node([]).reader().read(-70, 100) == (b"", 0)


@pytest.mark.parametrize("kept", [True, False], ids=["same process", "another process"])
def test_the_end_of_a_long_log_is_its_end_and_is_followed(monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    monkeypatch.setattr(module, "NEAR", 20_000)
    monkeypatch.setattr(module, "_LAST_LINES", 100)
    lines, places = spoken(3_000, every_ns=SECOND // 5), Places()
    node = Node(lines[:2_000])
    tail, offset = node.reader(places).read(-700, 10_000)
    assert tail == node.whole()[-700:] and FAR < offset < 10**15
    node.lines = lines
    got = b""
    for _ in range(70):
        data, offset = node.reader(places if kept else None).read(offset, 1_000)
        got += data
    assert tail + got == node.whole()[len(Node(lines[:2_000]).whole()) - 700 :]
    assert node.reader().read(offset, 1_000) == (b"", offset), "the last line is not said again and again"


def test_stamps_of_any_zone_and_precision() -> None:
    answer = b"2027-01-15T08:00:00Z a\n2027-01-15T16:00:00.5+08:00 b\n2027-01-15T08:00:00.500000000Z c\n2027-01-15T08:0"
    found = [(line.at, line.before, line.text) for line in lines_of(answer)]
    assert found == [(BEGAN, 0, b"a\n"), (BEGAN + SECOND // 2, 0, b"b\n"), (BEGAN + SECOND // 2, 1, b"c\n")]
    assert Place(BEGAN + 5).since == "2027-01-15T08:00:00Z" and Place().since == ""
