"""The member's log: bounded on disk whatever the program writes, and never a reason for the program to wait."""

import contextlib
import os

_CHUNK = 1 << 16
_CHUNKS_AT_ONCE = 32


class Pump:
    """Copies the program's output to its log: the head as it comes, of the rest the tail, once it has ended."""

    def __init__(self, source: int, path: str, *, head_bytes: int, tail_bytes: int) -> None:
        os.set_blocking(source, False)
        self.source = source
        self._log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self._room = head_bytes
        self._tail_bytes = tail_bytes
        self._tail = bytearray()
        self.omitted = 0
        """Bytes that are neither in the log nor in the tail kept for it."""
        self.open = True

    def feed(self) -> None:
        """Take what is there, but no more than a fair share of it."""
        for _ in range(_CHUNKS_AT_ONCE):
            try:
                data = os.read(self.source, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                self.open = False
                return
            self._take(data)

    def finish(self) -> None:
        """Write the tail, if there is one, with a line that says how much is missing before it."""
        if self._tail or self.omitted:
            self._write(f"[{self.omitted} bytes left out]\n".encode())
            self._write(bytes(self._tail))
        os.close(self._log)

    def _take(self, data: bytes) -> None:
        head, rest = data[: self._room], data[self._room :]
        if head:
            self._room -= len(head)
            if not self._write(head):
                self.omitted += len(head)
        if rest:
            if not self._tail:
                self._write(b"\n[the log is full: of what follows only the last part is added, at the end]\n")
            self._tail += rest
            surplus = len(self._tail) - self._tail_bytes
            if surplus > 0:
                del self._tail[:surplus]
                self.omitted += surplus

    def _write(self, data: bytes) -> bool:
        with contextlib.suppress(OSError):  # a full disk must not end the job
            return os.write(self._log, data) == len(data)
        return False
