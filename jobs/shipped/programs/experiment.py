"""Holds a place to experiment in for a limited time: heartbeats, a notes file, and an end by its own rule."""

from __future__ import annotations

import resource
import time
from pathlib import Path

from portal_contract import STOPPING, Stopped, folder, log, publish, read_params, run, whole, write_whole


def heartbeat(number: int, began: float, ends: float) -> str:
    """One line: how long it has run, what is left, and what the process has used."""
    now, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    cpu = round((used.ru_utime + used.ru_stime) * 1000)
    left = max(0.0, ends - now)
    rss = used.ru_maxrss * 1024
    return f"heartbeat={number} up_s={now - began:.1f} left_s={left:.1f} cpu_ms={cpu} rss_bytes={rss}"


def keep_notes(output: Path, note: str, beats: list[str], end: str) -> None:
    """The notes of this session: what the user wrote, the last heartbeats, and why it ended."""
    text = "\n".join([note, "", *beats[-100:], end, ""])
    write_whole(output / "notes.txt", text.encode("utf-8", "replace"))
    publish({"notes": ("result", output / "notes.txt")})


def main() -> None:
    """Beat until the time to live is over (exit 0) or TERM (143); the notes are kept either way."""
    params, output = read_params(), folder("PORTAL_OUTPUT_DIR")
    live = whole(params, "time_to_live", 1, 10**10) / 1000
    pause = whole(params, "heartbeat", 1, 10**9) / 1000
    began, beats = time.monotonic(), list[str]()
    ends = began + live
    log(f"session started time_to_live_s={live:g} heartbeat_s={pause:g}")
    while not STOPPING.is_set() and time.monotonic() < ends:
        beats.append(heartbeat(len(beats) + 1, began, ends))
        log(beats[-1])
        STOPPING.wait(min(pause, max(0.0, ends - time.monotonic())))
    reason = "stopped on request" if STOPPING.is_set() else f"time to live of {live:g} s is over"
    keep_notes(output, str(params.get("note", "")), beats, f"session ended: {reason}")
    log(f"session ended: {reason}")
    if STOPPING.is_set():
        raise Stopped


if __name__ == "__main__":
    run(main)
