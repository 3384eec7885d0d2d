"""Facts of the request being served: its id and where it came from, which the audit needs, and what it has read."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Empty outside a request: background work has neither."""

    request_id: uuid.UUID | None = None
    source_ip: str | None = None
    _read: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def once(self, name: str, read: Callable[[], T]) -> T:
        """What `read` gives, read once a request; outside one, each time."""
        if self.request_id is None:
            return read()
        if name not in self._read:
            self._read[name] = read()
        return cast(T, self._read[name])


_current: ContextVar[RequestContext] = ContextVar("request_context", default=RequestContext())  # noqa: B039


def current() -> RequestContext:
    """The context of the request this code runs for."""
    return _current.get()


@contextmanager
def serving(context: RequestContext) -> Iterator[None]:
    """Set the context for the length of a request."""
    token = _current.set(context)
    try:
        yield
    finally:
        _current.reset(token)
