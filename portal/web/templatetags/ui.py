"""The interface components as template tags; markup of more than one line lives in templates/ui/.

Atoms (a state, a time, an amount) are plain functions, because a table draws hundreds of them.
A value of None is a dash with a word behind it for screen readers, or the word given as `absent`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django import template
from django.core.paginator import Page
from django.forms.boundfield import BoundField
from django.forms.forms import BaseForm
from django.http import HttpRequest
from django.template import Context
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from portal.lib import clock, units
from portal.lib.display import BarRow, Fact, Link, ProofLevel, RailStage, Step, Tone, VerdictCard
from portal.lib.localised import listed
from portal.web import bars, fields, states
from portal.web.icons import icon_svg

register = template.Library()

Text = str | Promise


# --- atoms: icon, state, kind ---------------------------------------------------------------------


@register.simple_tag
def icon(name: str, size: int = 16, label: Text = "") -> SafeString:
    """An icon of the interface (lucide name)."""
    return icon_svg(name, size, str(label))


@register.simple_tag
def glyph(name: str, size: int = 14) -> SafeString:
    """A state glyph of the sprite (its name without `s-`)."""
    return format_html('<svg width="{0}" height="{0}" aria-hidden="true"><use href="#s-{1}"/></svg>', int(size), name)


@register.simple_tag
def state(code: object, reason: Text = "", chip: bool = False, word: Text = "") -> SafeString:
    """Glyph, word and tone of a state; `chip` boxes it for page heads, `reason` follows the word."""
    found = states.look(code)
    said = str(word or found.word)
    return format_html(
        '<span class="st{} {}" data-state="{}">{}{}</span>',
        " chip" if chip else "",
        found.tone,
        str(code).lower(),
        glyph(found.glyph, 14 if chip else 12),
        f"{said} · {reason}" if reason else said,
    )


@register.simple_tag
def kind_chip(kind: object, label: Text = "", note: Text = "") -> SafeString:
    """A resource kind: its hue as a bar, its word or the given label as text, a quieter note behind it."""
    return format_html(
        '<span class="kind {}">{}{}</span>',
        states.kind_class(kind),
        label or states.kind_word(kind),
        format_html(' <span class="muted">{}</span>', note) if note else "",
    )


@register.filter
def kind_class(kind: object) -> str:
    """The CSS class of a kind's hue, for figures that hold several pieces."""
    return states.kind_class(kind)


# --- atoms: times ---------------------------------------------------------------------------------


def missing(absent: Text = "") -> SafeString:
    """What stands where there is no value: the given word, or a dash that is read as "none"."""
    if absent:
        return format_html('<span class="muted">{}</span>', absent)
    return format_html('<span class="muted" aria-hidden="true">–</span><span class="vh">{}</span>', _("none"))


def _now(context: Context, now: datetime | None) -> datetime:
    return now or context.get("now") or clock.utc_now()


def _time(moment: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', _stamp(moment), units.utc_title(moment), text)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@register.simple_tag(takes_context=True)
def when(context: Context, moment: datetime | None, form: str = "minute", absent: Text = "") -> SafeString:
    """A moment in local time, UTC on hover. Forms: minute, second, time, date, short, near (today: time)."""
    if moment is None:
        return missing(absent)
    zone = timezone.get_current_timezone()
    if form == "near":
        return _time(moment, units.near_time_text(moment, zone, _now(context, None)))
    return _time(moment, units.time_text(moment, zone, form))  # type: ignore[arg-type]


@register.simple_tag(takes_context=True)
def ago(context: Context, moment: datetime | None, now: datetime | None = None, absent: Text = "") -> SafeString:
    """Relative time with the absolute one on hover; the page script keeps it current."""
    if moment is None:
        return missing(absent)
    local = units.time_text(moment, timezone.get_current_timezone(), "second")
    text = units.ago_text(moment, _now(context, now))
    title = f"{local} ({units.utc_title(moment)})"
    return format_html('<time datetime="{}" title="{}" data-ago>{}</time>', _stamp(moment), title, text)


@register.simple_tag(takes_context=True)
def age(context: Context, moment: datetime | None, now: datetime | None = None) -> SafeString:
    """How old a panel's figures are: 4 s old. Without a moment: not observed."""
    if moment is None:
        return missing(_("not observed"))
    return _time(moment, units.age_text(moment, _now(context, now)))


@register.simple_tag
def duration(value: int | timedelta | None, absent: Text = "") -> SafeString:
    """A duration in milliseconds (or a timedelta): 2 h 15 min; the exact milliseconds on hover."""
    if value is None:
        return missing(absent)
    ms = units.milliseconds(value) if isinstance(value, timedelta) else int(value)
    return format_html('<span class="nowrap" title="{} ms">{}</span>', units.number(ms), units.duration_text(ms))


# --- atoms: amounts -------------------------------------------------------------------------------


@register.simple_tag
def cpu(milli: int | None, absent: Text = "") -> SafeString | str:
    """Milli-CPU as cores with their word."""
    return missing(absent) if milli is None else units.cpu_text(milli)


@register.simple_tag(name="bytes")
def bytes_tag(size: int | None, absent: Text = "") -> SafeString | str:
    """Bytes in GiB (MiB and KiB below, TiB above ten)."""
    return missing(absent) if size is None else units.bytes_text(size)


@register.simple_tag
def devices(parts: int | None, whole: int = units.DEVICE_PARTS, absent: Text = "") -> SafeString | str:
    """Device parts as cards with their word."""
    return missing(absent) if parts is None else units.devices_text(parts, whole)


@register.simple_tag
def amount(value: int | None, unit: units.Unit, absent: Text = "") -> SafeString | str:
    """The number alone, for a cell whose head carries the unit; unit is devices, cpu, bytes or count."""
    return missing(absent) if value is None else units.amount(value, unit)


@register.simple_tag
def hours(product: int | None, unit: units.Unit, word: bool = False, absent: Text = "") -> SafeString | str:
    """Resource-hours of base units x milliseconds; `word` appends card-hours, core-hours or GiB·h."""
    if product is None:
        return missing(absent)
    text = units.hours(product, unit)
    return f"{text} {units.hours_word(unit)}" if word else text


@register.simple_tag
def hours_word(unit: units.Unit) -> str:
    """The word of resource-hours for a table head: card-hours, core-hours, GiB·h."""
    return units.hours_word(unit)


@register.simple_tag
def money(micro: int | Decimal | None, currency: str, absent: Text = "", places: int | None = None) -> SafeString | str:
    """Micro units of a currency as money, exact on hover; `places` is the column's; without a rate: "unrated"."""
    if micro is None:
        return missing(absent or _("unrated"))
    exact, text = units.exact_money(micro, currency), units.money_text(micro, currency, places)
    return text if exact == text else format_html('<span title="{}">{}</span>', exact, text)


@register.simple_tag
def money_places(*micros: int | Decimal | None) -> int:
    """Decimals of a column that holds these amounts."""
    return units.money_places(micros)


@register.simple_tag
def number(value: int | Decimal | None, places: int = 0, absent: Text = "") -> SafeString | str:
    """A number grouped by thousands."""
    return missing(absent) if value is None else units.number(value, places)


@register.simple_tag
def mini(value: int | None, scale: int, kind: object = "", mark: int | None = None) -> SafeString:
    """A bar of 44 px for a table row: `value` of `scale`, `mark` as a limit. Its numbers stand beside it."""
    fill = format_html('<rect class="f-k" width="{}" height="10"/>', bars.share(value, scale)) if value else ""
    x = None if mark is None else bars.share(mark, scale)
    line = format_html('<line class="l-ink w2" x1="{0}" x2="{0}" y1="-1" y2="11"/>', x) if x else ""
    return format_html(
        '<svg class="mini {}" width="44" height="10" aria-hidden="true">'
        '<rect class="f-track" width="100%" height="10"/>{}{}</svg>',
        states.kind_class(kind),
        fill,
        line,
    )


# --- pieces with a template of their own ------------------------------------------------------------


@register.inclusion_tag("ui/rail.html", takes_context=True)
def rail(context: Context, stages: Sequence[RailStage]) -> dict[str, Any]:
    """The stage rail. The last stage that is not done or to come is the current step."""
    return {"now": _now(context, None), "stages": states.stage_shapes(stages)}


@register.inclusion_tag("ui/quota_bar.html")
def quota_bar(label: Text, unit: units.Unit, kind: object, url: str = "", **figures: Any) -> dict[str, Any]:
    """One quota cell: used, reserved, job, borrowed, lent, guarantee, nominal, ceiling (`bars.Quota`)."""
    return {
        "label": label,
        "url": url,
        "kind": states.kind_class(kind),
        **bars.quota_shape(label, unit, **figures),
    }


@register.inclusion_tag("ui/proof.html")
def proof(levels: Sequence[ProofLevel]) -> dict[str, Any]:
    """A release proof, level by level; not observed is a word of its own and never a tick."""
    looks = {
        "seen": ("done", "ok", ""),
        "missing": ("warn", "bad", _("not released")),
        "waiting": ("queued", "wait", _("waiting")),
        "unobserved": ("unknown", "off", _("not observed")),
    }
    return {"levels": [(level, *looks[level.observed]) for level in levels]}


@register.inclusion_tag("ui/verdict.html")
def verdict(card: VerdictCard, dock: bool = False, live: bool = True) -> dict[str, Any]:
    """Would it start: now, wait, never. `dock` fixes it to the bottom of a small screen."""
    tones = {"now": "now", "wait": "wait", "never": "never"}
    return {
        "card": card,
        "look": states.look(card.word if card.word in tones else "undecided"),
        "css": tones.get(card.word, "off"),
        "dock": dock,
        "live": live,
    }


@register.inclusion_tag("ui/call.html")
def top_card(
    tone: Tone,
    say: Text,
    more: Text = "",
    *,
    glyph: str = "",
    dials: Sequence[Fact] = (),
    facts: Sequence[Fact] = (),
    steps: Sequence[Step] = (),
    label: Text = "",
) -> dict[str, Any]:
    """The top card: one sentence, need / have / short by, who holds it, steps that work with one click."""
    marks = {"ok": "done", "wait": "queued", "warn": "warn", "bad": "failed", "sim": "sim", "off": "unknown"}
    return {
        "tone": tone,
        "say": say,
        "more": more,
        "glyph": glyph or marks[tone],
        "dials": dials,
        "facts": facts,
        "steps": steps,
        "label": label,
    }


@register.inclusion_tag("ui/empty.html")
def empty(title: Text, text: Text = "", action: Text = "", url: str = "", main: bool = True) -> dict[str, Any]:
    """Nothing here yet, or no match (`main` False): a title, a sentence, one way on."""
    return {"title": title, "text": text, "action": action, "url": url, "main": main}


@register.inclusion_tag("ui/note.html")
def note(text: Text, title: Text = "", tone: Tone = "warn", url: str = "", action: Text = "") -> dict[str, Any]:
    """A notice across the page."""
    marks = {"ok": "done", "wait": "queued", "warn": "warn", "bad": "failed", "sim": "sim", "off": "unknown"}
    return {"text": text, "title": title, "tone": tone, "glyph": marks[tone], "url": url, "action": action}


@register.inclusion_tag("ui/pager.html", takes_context=True)
def pager(context: Context, page: Page[Any], name: str = "page") -> dict[str, Any]:
    """First to last of how many, and the way to the neighbours; other query parameters are kept."""
    request: HttpRequest = context["request"]

    def address(number: int) -> str:
        query = request.GET.copy()
        query[name] = str(number)
        return f"?{query.urlencode()}"

    return {
        "page": page,
        "previous": address(page.previous_page_number()) if page.has_previous() else "",
        "next": address(page.next_page_number()) if page.has_next() else "",
    }


@register.inclusion_tag("ui/field.html")
def field(bound: BoundField, unit: Text = "", optional: bool = False) -> dict[str, Any]:
    """A form field: label, control with its unit, help, errors beside it, linked for assistive technology."""
    return fields.shape(bound, unit, optional)


@register.inclusion_tag("ui/form_errors.html")
def form_errors(form: BaseForm) -> dict[str, Any]:
    """What is wrong with the form as a whole, and a jump to each field that needs a correction."""
    return {"form": form, "bad": [form[name] for name in form.errors if name in form.fields]}


@register.inclusion_tag("ui/bar_chart.html")
def bar_chart(rows: Sequence[BarRow], kind: object = "", label: Text = "") -> dict[str, Any]:
    """Horizontal bars with their names and figures as text; the longest is full."""
    return {"rows": bars.rows(rows), "kind": states.kind_class(kind), "label": label}


@register.inclusion_tag("ui/column_chart.html")
def column_chart(rows: Sequence[BarRow], kind: object = "", label: Text = "") -> dict[str, Any]:
    """Upright bars over time, one a row, first and last named; a gap is hatched, never a zero."""
    return {"kind": states.kind_class(kind), "label": label, **bars.columns_shape(rows)}


@register.inclusion_tag("ui/tabs.html")
def tabs(links: Iterable[Link], label: Text) -> dict[str, Any]:
    """Tabs of a page as links."""
    return {"links": links, "label": label}


@register.inclusion_tag("ui/filters.html")
def filters(links: Iterable[Link], csv: str = "", clear: str = "") -> dict[str, Any]:
    """Filters as chips; the current one is a link that takes it off."""
    return {"links": links, "csv": csv, "clear": clear}


@register.simple_tag
def crumbs(*parts: Text) -> SafeString:
    """The way here: label, url, label, url, ..., label of this page."""
    pairs = [(parts[i], parts[i + 1] if i + 1 < len(parts) else "") for i in range(0, len(parts), 2)]
    items = format_html_join(
        "",
        "<li>{}</li>",
        ((format_html('<a href="{}">{}</a>', url, label) if url else label,) for label, url in pairs),
    )
    return format_html('<nav aria-label="{}"><ol class="crumbs">{}</ol></nav>', _("Breadcrumbs"), items)


# --- language and time zone --------------------------------------------------------------------------


@register.simple_tag(takes_context=True)
def zone(context: Context) -> str:
    """The zone that times on the page are shown in."""
    return units.zone_text(timezone.get_current_timezone(), _now(context, None))


@register.simple_tag
def html_lang() -> str:
    """The page's language as HTML spells it: en, zh-Hans."""
    head, _dash, script = (get_language() or "en").partition("-")
    return f"{head}-{script.title()}" if script else head


@register.filter(name="listed")
def listed_filter(items: Iterable[Any]) -> str:
    """Items as one text, with the language's own sign between them."""
    return listed(items)


@register.filter
def facts_lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Facts of a refusal as name and text; a list becomes words, a nested fact its own text."""
    return [(name, ", ".join(map(str, v)) if isinstance(v, (list, tuple)) else str(v)) for name, v in facts.items()]
