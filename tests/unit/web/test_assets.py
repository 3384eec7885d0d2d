"""The style sheets, scripts and templates keep their own rules."""

import re
from pathlib import Path

import pytest

from portal.web import states
from portal.web.icons import icon_svg
from portal.web.nav import BY_ROLE

ROOT = Path(__file__).resolve().parents[3]
CSS = {name: (ROOT / "static" / name).read_text(encoding="utf-8") for name in ("tokens.css", "app.css")}
SPRITE = (ROOT / "templates/ui/sprite.html").read_text(encoding="utf-8")
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
IDS = set(re.findall(r'id="([\w-]+)"', SPRITE))
TOKENS = {
    name: {"light": light, "dark": dark}
    for name, light, dark in re.findall(
        r"--([\w-]+):\s*var\(--lt, (#[0-9a-f]{6})\)\s+var\(--dk, (#[0-9a-f]{6})\)", CSS["tokens.css"]
    )
}


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read_on_every_ground(theme: str) -> None:
    text = ["ink", "ink-2", "ink-3", "accent", "ok", "wait", "warn", "bad", "sim"]
    grounds = ["bg", "surface", "raised"]
    weak = [
        (ink, ground, round(contrast(TOKENS[ink][theme], TOKENS[ground][theme]), 2))
        for ink in text
        for ground in grounds
        if contrast(TOKENS[ink][theme], TOKENS[ground][theme]) < 4.5
    ]
    assert weak == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_state_can_be_read_on_its_own_wash(theme: str) -> None:
    for tone in ("ok", "wait", "warn", "bad", "sim", "accent"):
        for ink in (tone, "ink"):
            assert contrast(TOKENS[ink][theme], TOKENS[f"{tone}-bg"][theme]) >= 4.5, (ink, tone)
    assert contrast(TOKENS["accent-on"][theme], TOKENS["accent"][theme]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_controls_and_kinds_stand_out_from_the_ground(theme: str) -> None:
    for name in ("line-2", "gpu", "npu", "cpu", "mem", "sto", "net"):
        assert contrast(TOKENS[name][theme], TOKENS["surface"][theme]) >= 3, name


def test_every_token_that_is_used_is_defined() -> None:
    defined = set(re.findall(r"(--[\w-]+)\s*:", "".join(CSS.values())))
    used = set(re.findall(r"var\((--[\w-]+)", "".join(CSS.values()) + SPRITE))
    assert used - defined == set()


def test_every_glyph_and_pattern_that_is_used_is_in_the_sprite() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    named = {f"s-{name}" for name in re.findall(r"{% glyph \"([\w-]+)\"", text)}
    used = set(re.findall(r"(?:url\(|href=\")#((?:s|p)-[\w-]+)", text)) | named
    used |= {f"s-{look.glyph}" for look in states.LOOKS.values()}
    assert used - IDS == set()


def test_every_icon_that_is_used_exists() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES)
    names = set(re.findall(r"{% icon \"([\w-]+)\"", text)) | {e.icon for es in BY_ROLE.values() for e in es}
    assert names
    for name in names:
        icon_svg(name)


def test_no_template_has_anything_inline_that_the_policy_forbids() -> None:
    found = []
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        inline = re.findall(r"\sstyle=|<style|\son[a-z]+=|javascript:|<script(?![^>]*src=)[^>]*>", text)
        found += [f"{path.relative_to(ROOT)}: {what}" for what in inline]
    assert TEMPLATES and found == []


@pytest.mark.parametrize("name", ["app.js", "charts.js", "theme.js", "app.css", "tokens.css"])
def test_an_asset_is_our_own_and_calls_nowhere(name: str) -> None:
    text = (ROOT / "static" / name).read_text(encoding="utf-8")
    assert "://" not in text and "@import" not in text
    assert not re.search(r"\beval\(|new Function|innerHTML|outerHTML|document\.write", text)


def test_the_page_script_stays_small() -> None:
    assert len((ROOT / "static/app.js").read_text(encoding="utf-8").splitlines()) <= 200
