"""Display of quantities, durations, times and money in the active language; integers in base units go in.

Amounts, durations and ages are cut, never rounded up; money is rounded half to even.
Units: milli-CPU, bytes, milliseconds, device parts (42,000 = one device), micro units of a currency.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Final, Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

Unit = Literal["devices", "cpu", "bytes", "count"]

DEVICE_PARTS: Final = 42_000
KIB: Final = 1024
MIB: Final = KIB**2
GIB: Final = KIB**3
TIB: Final = KIB**4
SECOND: Final = 1_000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
MINUS: Final = "\N{MINUS SIGN}"


def number(value: int | Decimal | Fraction, places: int = 0) -> str:
    """Grouped by thousands in both languages, at most `places` decimals, trailing zeros dropped."""
    exact = Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else Decimal(value)
    cut = exact.quantize(Decimal(1).scaleb(-places), ROUND_DOWN)
    text = f"{abs(cut):,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{MINUS}{text}" if cut < 0 else text


def percent(part: int, whole: int, places: int = 1) -> str:
    """`part` of `whole`, such as 93.5%; a dash when there is no whole to be part of."""
    return f"{number(Fraction(100 * part, whole), places)}%" if whole else "–"


# --- quantities ---------------------------------------------------------------------------------


def devices(parts: int, whole: int = DEVICE_PARTS) -> str:
    """Devices as a number: 8, 0.5, or a true fraction (3/7) where two decimals would not be exact."""
    share = Fraction(parts, whole)
    if (share * 100).denominator == 1:
        return number(share, 2)
    cards, rest = divmod(abs(share.numerator), share.denominator)
    text = f"{rest}/{share.denominator}"
    sign = MINUS if share < 0 else ""
    return f"{sign}{number(cards)} {text}" if cards else f"{sign}{text}"


def devices_text(parts: int, whole: int = DEVICE_PARTS) -> str:
    """Devices with their word: 8 cards, 8 卡."""
    return f"{devices(parts, whole)} {unit_word('devices', parts, whole)}"


def cpu(milli: int) -> str:
    """Cores as a number: 192, 0.5."""
    return number(Fraction(milli, 1000), 3)


def cpu_text(milli: int) -> str:
    """Cores with their word: 192 cores, 0.5 核."""
    return f"{cpu(milli)} {unit_word('cpu', milli)}"


def bytes_text(size: int) -> str:
    """Bytes in the unit that suits them; GiB up to ten TiB, so that memory sizes compare at a glance."""
    for unit, name, until in (
        (TIB, "TiB", 10 * TIB),
        (GIB, "GiB", GIB),
        (MIB, "MiB", MIB),
        (KIB, "KiB", KIB),
    ):
        if abs(size) >= until:
            return f"{number(Fraction(size, unit), 1)} {name}"
    return f"{number(size)} B"


def unit_word(unit: Unit, amount: int, whole: int = DEVICE_PARTS) -> str:
    """The word after an amount in base units: card/cards, core/cores, GiB; empty for a plain count."""
    if unit == "devices":
        return ngettext("card", "cards", 1 if amount == whole else 2)
    if unit == "cpu":
        return ngettext("core", "cores", 1 if amount == 1000 else 2)
    return "GiB" if unit == "bytes" else ""


def amount(value: int, unit: Unit) -> str:
    """The number alone, in the unit `unit_word` names; for table cells whose head carries the unit."""
    return _AMOUNTS[unit](value)


def amount_text(value: int, unit: Unit) -> str:
    """The number and its unit."""
    return bytes_text(value) if unit == "bytes" else f"{amount(value, unit)} {unit_word(unit, value)}".rstrip()


_AMOUNTS: dict[str, Callable[[int], str]] = {
    "devices": devices,
    "cpu": cpu,
    "bytes": lambda size: number(Fraction(size, GIB), 1),
    "count": number,
}
_BASE: dict[str, int] = {"devices": DEVICE_PARTS, "cpu": 1000, "bytes": GIB, "count": 1}


def hours(product: int, unit: Unit, places: int | None = None) -> str:
    """Resource-hours as a number; `product` is base units x milliseconds.

    Without `places`: 1 decimal from ten up, 2 from one up, else 4, so that a short job is not shown as 0.0.
    """
    value = Fraction(product, _BASE[unit] * HOUR)
    if places is None:
        places = 1 if value >= 10 else 2 if value >= 1 else 4
        if 0 < value < Fraction(1, 10_000):
            return "< 0.0001"  # something was used: never shown as nothing
    return number(value, places)


def hours_word(unit: Unit) -> str:
    """The word after resource-hours: card-hours, core-hours, GiB·h."""
    words = {"devices": _("card-hours"), "cpu": _("core-hours"), "bytes": "GiB·h", "count": "h"}
    return words[unit]


# --- durations and times ------------------------------------------------------------------------


def duration_text(ms: int) -> str:
    """A duration in its two largest units: 2 h 15 min, 1 min 05 s; below a minute in tenths of a second: 4.2 s."""
    text = _duration(abs(ms))
    return f"{MINUS}{text}" if ms < 0 else text


def _duration(ms: int) -> str:
    if ms < SECOND:
        return _("{n} ms").format(n=ms)
    if ms < MINUTE:
        return _("{n} s").format(n=number(Fraction(ms, SECOND), 1))
    if ms < 10 * MINUTE:
        minutes, seconds = divmod(ms // SECOND, 60)
        return _("{m} min {s} s").format(m=minutes, s=f"{seconds:02}")
    if ms < HOUR:
        return _("{n} min").format(n=ms // MINUTE)
    if ms < DAY:
        whole, minutes = divmod(ms // MINUTE, 60)
        return _("{h} h {m} min").format(h=whole, m=f"{minutes:02}")
    days, left = divmod(ms // HOUR, 24)
    return _("{d} d {h} h").format(d=number(days), h=left)


def milliseconds(delta: timedelta) -> int:
    """Whole milliseconds of a timedelta."""
    return delta // timedelta(milliseconds=1)


_PAST: Final = (
    (DAY, ngettext_lazy("%(n)d day ago", "%(n)d days ago", "n")),
    (HOUR, ngettext_lazy("%(n)d hour ago", "%(n)d hours ago", "n")),
    (MINUTE, ngettext_lazy("%(n)d minute ago", "%(n)d minutes ago", "n")),
    (SECOND, ngettext_lazy("%(n)d second ago", "%(n)d seconds ago", "n")),
)
_FUTURE: Final = (
    (DAY, ngettext_lazy("in %(n)d day", "in %(n)d days", "n")),
    (HOUR, ngettext_lazy("in %(n)d hour", "in %(n)d hours", "n")),
    (MINUTE, ngettext_lazy("in %(n)d minute", "in %(n)d minutes", "n")),
    (SECOND, ngettext_lazy("in %(n)d second", "in %(n)d seconds", "n")),
)


def ago_text(moment: datetime, now: datetime) -> str:
    """Relative time in one unit: 3 minutes ago; a future moment reads "in 3 minutes"."""
    ms = milliseconds(now - moment)
    table = _PAST if ms >= 0 else _FUTURE
    size, words = next((row for row in table if abs(ms) >= row[0]), table[-1])
    return str(words % {"n": abs(ms) // size})


def age_text(past: datetime, now: datetime) -> str:
    """How old a figure is: 4 s old, in whole seconds. A clock that runs ahead gives "just now"."""
    ms = max(0, milliseconds(now - past))
    if ms < SECOND:
        return _("just now")
    ms -= ms % SECOND if ms > SECOND else 0
    return _("{age} old").format(age=_("{n} min").format(n=ms // MINUTE) if MINUTE <= ms < HOUR else _duration(ms))


TimeForm = Literal["minute", "second", "time", "date", "short"]
_FORMS: Final[dict[str, str]] = {
    "minute": "%Y-%m-%d %H:%M",
    "second": "%Y-%m-%d %H:%M:%S",
    "time": "%H:%M:%S",
    "date": "%Y-%m-%d",
    "short": "%m-%d %H:%M",
}


def time_text(moment: datetime, zone: tzinfo, form: TimeForm = "minute") -> str:
    """The moment in `zone`, 24-hour, in one of the five forms."""
    return moment.astimezone(zone).strftime(_FORMS[form])


def near_time_text(moment: datetime, zone: tzinfo, now: datetime) -> str:
    """Clock time alone on the same local day as `now`, month and day before it otherwise."""
    same = moment.astimezone(zone).date() == now.astimezone(zone).date()
    return time_text(moment, zone, "time" if same else "short")


def utc_title(moment: datetime) -> str:
    """What the hover says: UTC 2026-11-30 08:22:04."""
    return f"UTC {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def zone_text(zone: tzinfo, now: datetime) -> str:
    """The zone times are shown in: UTC+8, or its local name where the language has one."""
    if str(zone) == "Asia/Shanghai":
        return _("UTC+8")
    minutes = int((now.astimezone(zone).utcoffset() or timedelta()).total_seconds()) // 60
    if not minutes:
        return "UTC"
    whole, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else MINUS}{whole}" + (f":{rest:02}" if rest else "")


# --- money --------------------------------------------------------------------------------------


CENT_PLACES: Final = 2
FINE_PLACES: Final = 6


def money_places(micros: Iterable[int | Decimal | None]) -> int:
    """Decimals that suit a whole column: six as soon as one amount is below a hundredth, else two."""
    cent = 10 ** (FINE_PLACES - CENT_PLACES)
    return FINE_PLACES if any(micro and abs(micro) < cent for micro in micros) else CENT_PLACES


def money_text(micro: int | Decimal, currency: str, places: int | None = None) -> str:
    """Money with its currency: CNY 1,200.00; without `places` an amount below a hundredth keeps its digits."""
    value = Decimal(micro) / 1_000_000
    places = money_places([micro]) if places is None else places
    return _money(value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN), currency)


def exact_money(micro: int | Decimal, currency: str) -> str:
    """Money with every digit it has, at least two decimals."""
    value = (Decimal(micro) / 1_000_000).normalize()
    digits = -int(value.as_tuple().exponent)
    return _money(value if digits >= CENT_PLACES else value.quantize(Decimal("0.01")), currency)


def _money(value: Decimal, currency: str) -> str:
    text = f"{abs(value):,f}"
    sign = MINUS if value < 0 else ""
    if currency == "CNY":
        return _("CNY {amount}").format(amount=sign + text)
    if currency == "points":
        return _("{amount} points").format(amount=sign + text)
    return f"{currency} {sign}{text}"
