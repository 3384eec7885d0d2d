"""The one place where the wall clock is read; rules take `now` as an argument."""

from datetime import UTC, datetime, timedelta


def utc_now() -> datetime:
    """Now, aware, in UTC."""
    return datetime.now(UTC)


def to_ms(moment: datetime) -> int:
    """Whole milliseconds since the epoch, rounded down, exact for any aware datetime."""
    delta = moment.astimezone(UTC) - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000 + delta.microseconds // 1_000


def from_ms(ms: int) -> datetime:
    """The UTC moment of whole milliseconds since the epoch."""
    return _EPOCH + timedelta(milliseconds=ms)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
