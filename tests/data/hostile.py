"""Hostile inputs per field type: each form and API field of a type refuses each of these and stores nothing.

Source: the reliability research note, section 5, and glossary part 3. Import and parametrize:

    for bad in hostile.for_type("integer"):
        with hostile.told(bad): ...

`for_form` leaves out what a form cannot post or may rightly read (a JSON "12" is no integer).
Values under "json" are whole request bodies. Expected: 400 or 422, the field named, never 500, below 50 ms.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Hostile:
    """One input and why it must be refused; `json_only`: meaningless or acceptable when posted by a form."""

    value: Any
    why: str
    json_only: bool = False


def for_type(kind: str) -> tuple[Hostile, ...]:
    """Everything a field of this type must refuse as a JSON value. KeyError for an unknown type."""
    return CORPUS[kind]


def for_form(kind: str) -> tuple[Hostile, ...]:
    """What a field of this type must refuse as posted text."""
    return tuple(bad for bad in CORPUS[kind] if isinstance(bad.value, str) and not bad.json_only)


@contextmanager
def told(bad: Hostile, *, seconds: float = 0.050) -> Iterator[None]:
    """Adds to a failure which input it was, and fails when its handling took more CPU time than `seconds`."""
    gc.collect(0)
    gc.disable()  # a collection of the whole suite's objects is not the input's doing
    started = time.process_time()
    try:
        yield
    except Exception as error:
        error.add_note(f"hostile input: {bad.why}: {str(bad.value)[:60]!r}")
        raise
    finally:
        spent = time.process_time() - started
        gc.enable()
    assert spent <= seconds, f"{bad.why}: {spent:.3f} s"


def _json(value: Any, reason: str) -> Hostile:
    return Hostile(value, reason, json_only=True)


_DIGITS = "9" * 5_000

# What no number of any kind may look like.
_NO_NUMBER = (
    Hostile("−1", "U+2212 minus sign"),
    Hostile("-0", "negative zero"),
    Hostile("+1", "plus sign"),
    Hostile("NaN", "not a number"),
    Hostile("nan", "not a number in small letters"),
    Hostile("Infinity", "infinity"),
    Hostile("-Infinity", "negative infinity"),
    Hostile("inf", "infinity, short"),
    Hostile("1e309", "beyond a double"),
    Hostile("1e999999", "exponent bomb: int() of it ran over 20 s"),
    Hostile("2E6024865272343", "exponent bomb in capitals"),
    Hostile("1e9223372036854775807", "exponent of 64 bits"),
    Hostile("١", "Arabic digit"),
    Hostile("۱۲", "Persian digits"),
    Hostile("１", "full-width digit"),
    Hostile("①", "circled digit"),
    Hostile("十二", "Chinese numerals"),
    Hostile("²", "superscript digit"),
    Hostile("1_000", "underscore, which int() accepts"),
    Hostile("1,5", "decimal comma"),
    Hostile("1,000", "thousands separator"),
    Hostile("1.", "nothing after the point"),
    Hostile(".5", "nothing before the point"),
    Hostile("1.2.3", "two points"),
    Hostile("0x10", "hexadecimal"),
    Hostile("0b1", "binary"),
    Hostile("007", "leading zeros"),
    Hostile("True", "a boolean's name"),
    Hostile("1\n", "line feed at the end, which `$` lets through"),
    Hostile("1\r\n", "carriage return at the end"),
    Hostile(" 1", "space in front"),
    Hostile("1 ", "space behind"),
    Hostile("1\u00a0", "no-break space"),
    Hostile("\u200b1", "zero-width space"),
    Hostile("\ufeff1", "byte order mark"),
    Hostile("1\x00", "NUL"),
    Hostile("\ud800", "lone surrogate"),
    Hostile("1; DROP TABLE jobs_job", "SQL"),
    Hostile("=1+1", "spreadsheet formula"),
    Hostile("{{ 1 }}", "template expression"),
    Hostile("${1}", "shell expansion"),
    Hostile("<script>1</script>", "markup"),
    Hostile("none", "a word"),
    Hostile(_DIGITS, "5,000 digits"),
    _json("", "empty text"),
)
_NO_SCALAR = (
    _json(None, "null"),
    _json([], "empty list"),
    _json([1], "list"),
    _json({}, "empty object"),
    _json({"value": 1}, "object"),
)
_BOOLEANS = (_json(True, "true"), _json(False, "false"))
_WRONG_FLOATS = (
    _json(float("nan"), "NaN as a JSON extension"),
    _json(float("inf"), "Infinity as a JSON extension"),
    _json(float("-inf"), "-Infinity as a JSON extension"),
)

_QUANTITY = (
    *_NO_NUMBER,
    *_NO_SCALAR,
    *_BOOLEANS,
    *_WRONG_FLOATS,
    Hostile("-1", "negative"),
    Hostile("-1m", "negative with unit"),
    Hostile("-3Gi", "negative memory: three fewer than none"),
    Hostile("1n", "nano unit"),
    Hostile("1u", "micro unit"),
    Hostile("1E", "exa unit"),
    Hostile("1e3", "exponent"),
    Hostile("1ki", "unit in the wrong case"),
    Hostile("1K", "unit in the wrong case"),
    Hostile("1mi", "unit in the wrong case"),
    Hostile("1GB", "unit with B"),
    Hostile("1GiB", "unit with iB"),
    Hostile("1 Gi", "space before the unit"),
    Hostile("Gi", "unit alone"),
    Hostile("٣Gi", "Arabic digit with unit"),
    Hostile("0.0000001", "too many decimals"),
    Hostile("0", "none at all"),
    Hostile("0.000", "none at all, with decimals"),
    Hostile("9999999999", "ten digits"),
    Hostile("9999999999Ei", "unknown unit, ten digits"),
    Hostile("999999999Pi", "beyond 64 bits"),
    Hostile("1000000Gi", "above the largest amount"),
    Hostile("1Mi1Mi", "two amounts"),
    _json(1, "a JSON number: its unit is a guess"),
    _json(1.5, "a JSON float"),
    _json(10**400, "a JSON integer of 401 digits"),
)

_INTEGER = (
    *_NO_NUMBER,
    *_NO_SCALAR,
    *_BOOLEANS,
    *_WRONG_FLOATS,
    Hostile("1.0", "a float's text"),
    Hostile("1e3", "exponent"),
    Hostile("-99999999999999999999", "below 64 bits"),
    Hostile("99999999999999999999", "above 64 bits"),
    _json(1.0, "a float"),
    _json(1.5, "a fraction"),
    _json("1", "a number as text"),
    _json(10**400, "an integer of 401 digits"),
    _json(-(2**63) - 1, "below 64 bits, as JSON"),
    _json(2**63, "above 64 bits, as JSON"),
)
_NUMBER = (
    *_NO_NUMBER,
    *_NO_SCALAR,
    *_BOOLEANS,
    *_WRONG_FLOATS,
    Hostile("1e400", "text beyond a double"),
    Hostile("-1e400", "text beyond a double, negative"),
    Hostile("1" * 60, "sixty digits"),
    _json("1.5", "a number as text"),
    _json(10**400, "an integer beyond a double"),
)
_COUNT = (
    *_NO_NUMBER,
    *_NO_SCALAR,
    *_BOOLEANS,
    *_WRONG_FLOATS,
    Hostile("0", "none at all"),
    Hostile("-1", "negative"),
    Hostile("1.0", "a float's text"),
    Hostile("1e3", "exponent"),
    Hostile("1Ki", "a unit"),
    Hostile("500m", "half a device"),
    Hostile("9999999999", "ten digits"),
    _json(0, "none at all, as JSON"),
    _json(-1, "negative, as JSON"),
    _json(1.0, "a float"),
    _json(10**400, "an integer of 401 digits"),
)

# Characters no text may hold; each stands between harmless letters, so that trimming cannot save it.
_BAD_CHARACTERS = (
    Hostile("a\x00b", "NUL"),
    Hostile("a\x1bb", "escape: terminal sequences"),
    Hostile("a\x1b]52;c;ZXZpbA==\x07b", "OSC 52 writes the clipboard"),
    Hostile("a\x07b", "bell"),
    Hostile("a\x7fb", "delete"),
    Hostile("a\x85b", "next line, a C1 control"),
    Hostile("a\x9bb", "C1 control sequence introducer"),
    Hostile("a\u202eb", "right-to-left override"),
    Hostile("a\u202ab", "left-to-right embedding"),
    Hostile("a\u2066b", "left-to-right isolate"),
    Hostile("a\u2069b", "pop directional isolate"),
    Hostile("a\u200fb", "right-to-left mark"),
    Hostile("a\u061cb", "Arabic letter mark"),
    Hostile("a\u200bb", "zero-width space"),
    Hostile("a\ufeffb", "byte order mark inside"),
    Hostile("a\u2060b", "word joiner"),
    Hostile("a\u00adb", "soft hyphen"),
    Hostile("a\u3164b", "Hangul filler"),
    Hostile("a\ufff9b", "interlinear annotation"),
    Hostile("a\ud800b", "lone surrogate: cannot be stored as UTF-8"),
    Hostile("a\uffffb", "noncharacter"),
    Hostile("a\u2028b", "line separator"),
    Hostile("a\u2029b", "paragraph separator"),
)
_LINE_BREAKS = (
    Hostile("a\nb", "line feed in one line"),
    Hostile("a\rb", "carriage return in one line"),
    Hostile("a\tb", "tab in one line"),
    Hostile("a\n", "line feed at the end, which trimming hides"),
    Hostile("\x0ba", "vertical tab in front"),
)
_NO_TEXT = (
    _json(None, "null"),
    _json(True, "boolean"),
    _json(1, "number"),
    _json(1.5, "float"),
    _json([], "list"),
    _json(["a"], "list of text"),
    _json({}, "object"),
    _json({"$ne": ""}, "query operator"),
)
_LONG = Hostile("x" * 100_000, "100,000 characters")
_BLANKS = (
    Hostile("", "empty"),
    Hostile("   ", "spaces"),
    Hostile("\u3000", "ideographic space"),
    Hostile("\u200d\u200d", "joiners alone"),
    Hostile("\u2800", "Braille blank"),
    Hostile("\u0301", "a combining mark alone"),
    Hostile("\ufe0f", "a variation selector alone"),
)

_NAME = (*_BAD_CHARACTERS, *_LINE_BREAKS, *_BLANKS, *_NO_TEXT, _LONG)
_TEXT = (*_BAD_CHARACTERS, *_LINE_BREAKS, *_NO_TEXT, _LONG)
_NOTE = (*_BAD_CHARACTERS, Hostile("a\rb", "carriage return without line feed"), *_NO_TEXT, _LONG)
_SLUG = (
    *_BAD_CHARACTERS,
    *_LINE_BREAKS,
    *_BLANKS,
    *_NO_TEXT,
    _LONG,
    Hostile("a" * 64, "64 characters"),
    Hostile("A", "capital letter"),
    Hostile("-a", "hyphen in front"),
    Hostile("a-", "hyphen at the end"),
    Hostile("a_b", "underscore"),
    Hostile("a.b", "dot"),
    Hostile("a b", "space"),
    Hostile(" a", "space in front"),
    Hostile("a/b", "slash"),
    Hostile("..", "parent folder"),
    Hostile("../../etc/passwd", "path traversal"),
    Hostile("%2e%2e%2f", "encoded traversal"),
    Hostile("pаypal", "Cyrillic a"),
    Hostile("é", "accent"),
    Hostile("ａ", "full-width letter"),
    Hostile("项目", "Chinese"),
    Hostile("ﬁ", "ligature"),
    Hostile("K", "Kelvin sign, lower-cases to k"),
    Hostile("😀", "four bytes"),
    Hostile("$(id)", "command substitution"),
    Hostile("a;b", "shell separator"),
    Hostile("a'b", "quote"),
)

_IDENTIFIER = (
    *_BAD_CHARACTERS,
    *_NO_TEXT,
    _LONG,
    Hostile("1", "a row number"),
    Hostile("not-an-id", "a word"),
    Hostile("00000000-0000-0000-0000-00000000000", "one digit short"),
    Hostile("00000000-0000-0000-0000-0000000000000", "one digit more"),
    Hostile("{00000000-0000-4000-8000-000000000000}", "braces, which UUID() accepts"),
    Hostile("urn:uuid:00000000-0000-4000-8000-000000000000", "urn, which UUID() accepts"),
    Hostile("00000000-0000-4000-8000-000000000000\n", "line feed at the end"),
    Hostile("00000000-0000-4000-8000-00000000000g", "not hexadecimal"),
    Hostile("００００００００-0000-4000-8000-000000000000", "full-width digits"),
    Hostile("' OR ''='", "SQL"),
    Hostile("../0", "path traversal"),
    _json("", "empty"),
)
_CHOICE = (
    *_BAD_CHARACTERS,
    *_NO_TEXT,
    _LONG,
    Hostile("no-such-option", "an option that is not offered"),
    Hostile("__class__", "an attribute's name"),
    Hostile("*", "wild card"),
    Hostile("０", "full-width digit"),
    _json("", "empty"),
)
_BOOLEAN = (
    Hostile("maybe", "a word"),
    Hostile("yes", "another word for true"),
    Hostile("TRUE", "capitals"),
    Hostile("2", "a number"),
    Hostile("１", "full-width digit"),
    Hostile("true\n", "line feed at the end"),
    Hostile("a\x00b", "NUL"),
    _json("true", "true as text"),
    _json("", "empty text"),
    _json(0, "zero"),
    _json(1, "one"),
    _json(1.0, "float"),
    *_NO_SCALAR,
)
_DATE = (
    Hostile("0001-01-01", "the first day there is"),
    Hostile("9999-12-31", "the last day there is"),
    Hostile("2026-02-30", "no such day"),
    Hostile("2025-02-29", "no leap year"),
    Hostile("2026-13-01", "no such month"),
    Hostile("2026-00-10", "month zero"),
    Hostile("2026-01-00", "day zero"),
    Hostile("-2026-01-01", "negative year"),
    Hostile("12026-01-01", "five-digit year"),
    Hostile("２０２６-01-01", "full-width digits"),
    Hostile("٢٠٢٦-01-01", "Arabic digits"),
    Hostile("2026-01-01\n", "line feed at the end"),
    Hostile("2026-01-01\x00", "NUL"),
    Hostile("2026-1-1' OR '1'='1", "SQL"),
    Hostile("31.12.2026", "another order"),
    Hostile("tomorrow", "a word"),
    Hostile("now()", "a function"),
    Hostile("1767225600", "seconds since 1970"),
    Hostile(_DIGITS, "5,000 digits"),
    *_NO_SCALAR,
    *_BOOLEANS,
    _json(20260101, "a number"),
    _json("", "empty"),
)
_DATETIME = (
    *(bad for bad in _DATE if "line feed" not in bad.why),
    Hostile("2026-01-01T00:00:00", "naive: in no zone"),
    Hostile("2026-01-01T25:00:00Z", "hour 25"),
    Hostile("2026-01-01T23:59:60Z", "leap second"),
    Hostile("2026-01-01T00:00:00+25:00", "offset of 25 hours"),
    Hostile("0001-01-01T00:00:00+14:00", "before the first moment in UTC"),
    Hostile("9999-12-31T23:59:59-14:00", "after the last moment in UTC"),
    Hostile("2026-01-01T00:00:00Z\n", "line feed at the end"),
)
_DURATION = (
    *_NO_NUMBER,
    *_NO_SCALAR,
    *_BOOLEANS,
    *_WRONG_FLOATS,
    Hostile("0s", "no time at all"),
    Hostile("-1h", "negative"),
    Hostile("1.5h", "a fraction"),
    Hostile("1h30m", "two amounts"),
    Hostile("30", "no unit"),
    Hostile("30ms", "unknown unit"),
    Hostile("1H", "unit in the wrong case"),
    Hostile("1 h", "space before the unit"),
    Hostile("1h\n", "line feed at the end"),
    Hostile("１h", "full-width digit"),
    Hostile("PT1H", "ISO 8601"),
    Hostile("9999999d", "27,000 years"),
    Hostile("99999999d", "eight digits"),
    _json(3600, "a JSON number: its unit is a guess"),
)
_LIST = (
    _json(None, "null"),
    _json("a", "text instead of a list"),
    _json({}, "object"),
    _json({"0": "a"}, "object like a list"),
    _json(True, "boolean"),
    _json([1], "a number inside"),
    _json([None], "null inside"),
    _json([["a"]], "a list inside"),
    _json([""], "an empty entry"),
    _json(["a\x00b"], "NUL inside"),
    _json(["a\u202eb"], "right-to-left override inside"),
    _json(["x" * 100_000], "a long entry"),
    _json([f"{index}" for index in range(10_000)], "10,000 entries"),
    Hostile("a\x00b", "NUL in a line"),
    Hostile("\n".join(map(str, range(10_000))), "10,000 lines"),
)
_URL = (
    Hostile("javascript:alert(1)", "script"),
    Hostile("data:text/html,<script>1</script>", "data"),
    Hostile("vbscript:x", "script of another kind"),
    Hostile("//example.invalid/", "no scheme: another host"),
    Hostile("/\\example.invalid", "backslash: another host to some browsers"),
    Hostile("https:example.invalid", "no slashes"),
    Hostile("http://user@example.invalid/", "user part"),
    Hostile("http://[::1", "broken bracket"),
    Hostile("http://169.254.169.254/", "metadata address"),
    Hostile("file:///etc/passwd", "file"),
    Hostile("http://a\r\nX: b/", "header injection"),
    *_NO_TEXT,
    _LONG,
)

_JSON = (
    Hostile(b"", "empty body"),
    Hostile(b"{", "ends too early"),
    Hostile(b"[]", "a list instead of an object"),
    Hostile(b"null", "null instead of an object"),
    Hostile(b'"text"', "text instead of an object"),
    Hostile(b"1", "number instead of an object"),
    Hostile(b"{'a': 1}", "single quotes"),
    Hostile(b'{"a": NaN}', "NaN"),
    Hostile(b'{"a": Infinity}', "Infinity"),
    Hostile(b'{"a": 1,}', "trailing comma"),
    Hostile(b'{"a": ' + b"9" * 5_000 + b"}", "5,000 digits: int() refuses with ValueError"),
    Hostile(b'{"a": "\xff\xfe"}', "not UTF-8"),
    Hostile(b"\xff\xfe{\x00}\x00", "UTF-16"),
    Hostile(b'{"a": "\\ud800"}', "lone surrogate: parses, cannot be stored"),
    Hostile(b'{"a": "\\u0000"}', "escaped NUL: parses, PostgreSQL refuses it"),
    Hostile(b"[" * 100_000 + b"]" * 100_000, "100,000 lists deep: RecursionError in the parser"),
    Hostile(b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "10,000 objects deep"),
    Hostile(b'{"a": "' + b"x" * 2_000_000 + b'"}', "2 MB"),
    Hostile(b"a: &a [x]\nb: [*a, *a]", "YAML with an alias"),
    Hostile(b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "XML with an entity"),
)

CORPUS: dict[str, tuple[Hostile, ...]] = {
    "quantity_cpu": (
        *_QUANTITY,
        Hostile("1Ki", "a memory unit"),
        Hostile("0.5m", "finer than 1m"),
        Hostile("1025", "too many"),
    ),
    "quantity_memory": (
        *_QUANTITY,
        Hostile("500m", "a CPU unit"),
        Hostile("1Ki", "below 1Mi"),
        Hostile("65Ti", "above 64Ti"),
    ),
    "count": _COUNT,
    "integer": _INTEGER,
    "number": _NUMBER,
    "name": _NAME,
    "text": _TEXT,
    "note": _NOTE,
    "slug": _SLUG,
    "uuid": _IDENTIFIER,
    "artifact": _IDENTIFIER,
    "datasource": _IDENTIFIER,
    "choice": _CHOICE,
    "boolean": _BOOLEAN,
    "date": _DATE,
    "datetime": _DATETIME,
    "duration": _DURATION,
    "list": _LIST,
    "url": _URL,
    "json": _JSON,
}
"""Field type -> what it must refuse."""

FORMULAS = ("=cmd()", "+1", "-1", "@sum", "\t=1", "\r=1")
"""Accepted as text where characters allow, but a CSV or XLSX cell must start with an apostrophe."""

LOOKALIKES = (
    ("paypal", "pаypal"),
    ("NVIDIA", "ΝVIDIA"),
    ("Team A", "team a"),
    ("Team A", "Team  А"),
    ("Team A", "Ｔｅａｍ　Ａ"),
    ("café", "cafe\u0301"),
    ("file", "ﬁle"),
    ("straße", "STRASSE"),
    ("HBM", "НВМ"),
    ("ab", "a\u200db"),
)
"""Pairs that may not both name a team, pool or template."""

HARMLESS_NAMES = (
    "集团数字化转型办公室·人工智能研究院（北京/上海/深圳）大模型预训练与对齐联合攻关组",
    "「盘岭-Σ」行业大模型二期——电力巡检（含无人机影像）多模态微调项目_２０２６Ｑ４",
    "【加急】70b-SFT_v2.3.1-rc4（重跑#３）：学习率1e-5→5e-6，序列长度32,768；请勿停止！🚀",
    "华北-乌兰察布①机房 B座3层 R07-U21～U28｜arm64-npu-8p-0017.bj02.internal（备用）",
    "𠮷田 𡈽屋（外协）·欧阳𬱖／司马䶮",
    "葛󠄀城AI＋医疗👩🏽‍💻｜Ａ/B对照组（α＝0.05）مشروع-تجريبي｜①②③ é",
    "=SUM(A1:A9)「<b>测试</b>」&amp; {{ 项目 }} %(name)s {0} '单引号' \"双引号\" \\ 反斜杠 -- 全角空格　尾部",
)
"""Awkward but honest names (glossary, part 3): accepted and kept to the last code point."""
