"""What is no name, no text, no slug and no id; and pairs that look alike."""

from tests.data.hostile.case import Hostile, json_only

# Characters no text may hold; each stands between harmless letters, so that trimming cannot save it.
BAD_CHARACTERS = (
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
LINE_BREAKS = (
    Hostile("a\nb", "line feed in one line"),
    Hostile("a\rb", "carriage return in one line"),
    Hostile("a\tb", "tab in one line"),
    Hostile("a\n", "line feed at the end, which trimming hides"),
    Hostile("\x0ba", "vertical tab in front"),
)
NO_TEXT = (
    json_only(None, "null"),
    json_only(True, "boolean"),
    json_only(1, "number"),
    json_only(1.5, "float"),
    json_only([], "list"),
    json_only(["a"], "list of text"),
    json_only({}, "object"),
    json_only({"$ne": ""}, "query operator"),
)
LONG = Hostile("x" * 100_000, "100,000 characters")
BLANKS = (
    Hostile("", "empty"),
    Hostile("   ", "spaces"),
    Hostile("\u3000", "ideographic space"),
    Hostile("\u200d\u200d", "joiners alone"),
    Hostile("\u2800", "Braille blank"),
    Hostile("\u0301", "a combining mark alone"),
    Hostile("\ufe0f", "a variation selector alone"),
)

NAME = (*BAD_CHARACTERS, *LINE_BREAKS, *BLANKS, *NO_TEXT, LONG)
TEXT = (*BAD_CHARACTERS, *LINE_BREAKS, *NO_TEXT, LONG)
NOTE = (*BAD_CHARACTERS, Hostile("a\rb", "carriage return without line feed"), *NO_TEXT, LONG)
SLUG = (
    *BAD_CHARACTERS,
    *LINE_BREAKS,
    *BLANKS,
    *NO_TEXT,
    LONG,
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

IDENTIFIER = (
    *BAD_CHARACTERS,
    *NO_TEXT,
    LONG,
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
    json_only("", "empty"),
)

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
