"""Facts of the request being served that the audit needs: its id and where it came from."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Empty outside a request: background work has neither."""

    request_id: uuid.UUID | None = None
    source_ip: str | None = None


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
