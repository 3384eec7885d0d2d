"""Each component in both languages: its structure, its words, and what it must never say."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone

from portal.lib.display import BarRow, Fact, Link, ProofLevel, RailStage, Step, VerdictCard
from portal.web import states
from tests.unit.web.conftest import Draw

NOW = datetime(2026, 11, 30, 8, 22, 8, tzinfo=UTC)
CARD = 42_000


@pytest.fixture(autouse=True)
def _shanghai() -> object:
    with timezone.override("Asia/Shanghai"):
        yield


def test_every_state_has_glyph_word_and_tone(language: str, draw: Draw) -> None:
    for code, look in states.LOOKS.items():
        html = draw("{% state code chip=True %}", code=code)
        assert f"#s-{look.glyph}" in html, code
        assert str(look.word) in html, code
        assert f'class="st chip {look.tone}"' in html, code


def test_states_have_words_of_their_own_in_chinese(draw: Draw) -> None:
    from django.utils import translation

    for code, look in states.LOOKS.items():
        with translation.override("en"):
            english = str(look.word)
        with translation.override("zh-hans"):
            assert str(look.word) != english, f"{code} is not translated"


def test_an_unheard_of_state_is_unknown_and_never_green(language: str, draw: Draw) -> None:
    html = draw("{% state 'EXPLODED' %}")
    assert 'class="st off"' in html and "#s-unknown" in html


def test_a_state_in_capitals_is_the_same_state(draw: Draw) -> None:
    assert draw("{% state 'RUNNING' %}") == draw("{% state 'running' %}").replace("RUNNING", "running")


def test_text_from_people_is_escaped(draw: Draw) -> None:
    html = draw("{% state 'failed' reason %}{% kind_chip kind %}", reason="<b>x</b>", kind="<i>")
    assert "<b>x" not in html and "<i>" not in html


def test_a_kind_without_a_hue_is_grey_and_keeps_its_name(draw: Draw) -> None:
    assert draw("{% kind_chip 'gpu' %}") == '<span class="kind k-gpu">GPU</span>'
    assert draw("{% kind_chip 'fpga' %}") == '<span class="kind k-acc">fpga</span>'


def test_a_time_is_local_with_utc_on_hover(language: str, draw: Draw) -> None:
    html = draw("{% when moment 'second' %}", moment=NOW)
    assert html == ('<time datetime="2026-11-30T08:22:08Z" title="UTC 2026-11-30 08:22:08">2026-11-30 16:22:08</time>')


def test_relative_time_can_be_kept_current_by_the_script(language: str, draw: Draw) -> None:
    html = draw("{% ago moment %}", moment=NOW - timedelta(minutes=3), now=NOW)
    assert "data-ago" in html and 'datetime="2026-11-30T08:19:08Z"' in html
    assert ("3 minutes ago" if language == "en" else "3 分钟前") in html


@pytest.mark.parametrize("tag", ["cpu", "bytes", "devices", "duration", "when", "ago", "number"])
def test_no_value_is_a_dash_that_is_read_as_none_never_zero(language: str, draw: Draw, tag: str) -> None:
    html = draw("{% load ui %}{% TAG nothing %}".replace("TAG", tag), nothing=None)
    assert "–" in html and 'class="vh"' in html and "0" not in html


def test_money_without_a_rate_says_unrated(draw: Draw) -> None:
    assert "unrated" in draw("{% money None 'CNY' %}")


def test_an_unseen_age_is_not_observed(draw: Draw) -> None:
    assert "not observed" in draw("{% age None %}")


def test_the_rail_marks_one_current_step(language: str, draw: Draw) -> None:
    stages = [
        RailStage("selected", "Selected", "done", NOW - timedelta(days=1)),
        RailStage("failed", "Failed", "bad", "after 1 h 29 min", "memory"),
        RailStage("releasing", "Releasing", "now", NOW),
        RailStage("released", "Released", "next"),
    ]
    html = draw("{% rail stages %}", stages=stages, now=NOW)
    assert html.count("aria-current") == 1
    assert '<li class="now warn" data-stage="releasing" aria-current="step">' in html
    assert '<li class="now bad" data-stage="failed">' in html
    assert ">11-29 16:22</time>" in html and ">16:22:08</time>" in html
    assert "#s-next" in html


def test_the_quota_bar_says_in_words_what_it_draws(language: str, draw: Draw) -> None:
    html = draw(
        "{% quota_bar 'GPU 80' 'devices' 'gpu' url='/q' used=used borrowed=four guarantee=g nominal=n ceiling=c %}",
        used=20 * CARD,
        four=4 * CARD,
        g=8 * CARD,
        n=16 * CARD,
        c=24 * CARD,
    )
    assert '<figure class="quota k-gpu">' in html and '<a href="/q">GPU 80</a>' in html
    assert "<b>20</b> / 16" in html and "url(#p-hatch)" in html
    words = "used 20, borrowed 4, guarantee 8, nominal 16, ceiling 24" if language == "en" else "已用 20、已借入 4"
    assert words in html


def test_a_quota_not_measured_is_hollow(draw: Draw) -> None:
    html = draw("{% quota_bar 'Memory' 'bytes' 'memory' used=None nominal=n %}", n=1024**3)
    assert "f-track dash" in html and "not measured" in html
    assert '<rect class="f-k" x=' not in html


def test_an_unobserved_level_is_never_a_tick(language: str, draw: Draw) -> None:
    levels = [
        ProofLevel("Objects gone", "seen", "0 Pods", 6_000),
        ProofLevel("Device idle", "unobserved", "exporter silent"),
        ProofLevel("Device idle", "missing", "2 of 16 cards held"),
    ]
    seen, unseen, held = draw("{% proof levels %}", levels=levels).split("<li ")[1:]
    assert "#s-done" in seen and "st ok" in seen
    assert "#s-done" not in unseen and "st ok" not in unseen and "–" in unseen
    assert "#s-warn" in held and "st bad" in held


@pytest.mark.parametrize(("word", "css"), [("now", "now"), ("wait", "wait"), ("never", "never"), ("unknown", "off")])
def test_the_verdict_is_a_word_and_a_sentence(language: str, draw: Draw, word: str, css: str) -> None:
    card = VerdictCard(
        word,  # type: ignore[arg-type]
        "Four cards short.",
        "about 18:40",
        (Fact("Estimate", "268.80", "CNY / h"),),
        (Step("12 cards", url="/x", action="Use"),),
    )
    html = draw("{% verdict card dock=True %}", card=card)
    assert "only-l" not in html  # a small screen shows all that a large one does
    assert f'class="verdict {css} dock"' in html and 'aria-live="polite"' in html
    assert "Four cards short." in html and "268.80 CNY / h" in html
    assert str(states.look(word if word != "unknown" else "undecided").word) in html


def test_a_step_that_changes_something_is_sent_as_a_form(language: str, draw: Draw) -> None:
    steps = [Step("Stop it", "now", url="/stop", action="Stop", post=True), Step("See", url="/see", action="See")]
    html = draw(
        "{% top_card 'wait' 'Waiting.' steps=steps dials=dials %}",
        steps=steps,
        dials=[Fact("needed", "16", "cards", short=True)],
    )
    assert '<form method="post" action="/stop">' in html and '<a class="btn" href="/see">' in html
    assert '<div class="short"><dt>needed</dt><dd>16 <small>cards</small></dd></div>' in html


def test_empty_and_no_match_look_different(language: str, draw: Draw) -> None:
    assert "btn main" in draw("{% empty 'No jobs yet' 'Start.' 'Open' '/t' %}")
    assert "btn main" not in draw("{% empty 'No match' '23 hidden.' 'Clear' '/t' main=False %}")


def test_the_pager_keeps_the_filters(language: str, draw: Draw, get: Callable[..., HttpRequest]) -> None:
    page = Paginator(range(1_234), 50).page(2)
    html = draw("{% pager page %}", page=page, request=get("/jobs?state=failed&page=2"))
    assert 'rel="prev" href="?state=failed&amp;page=1"' in html
    assert 'rel="next" href="?state=failed&amp;page=3"' in html
    assert ("51–100 of 1,234" if language == "en" else "51～100，共 1,234 条") in html


def test_a_pager_with_one_page_offers_no_way(draw: Draw, get: Callable[..., HttpRequest]) -> None:
    html = draw("{% pager page %}", page=Paginator(range(3), 50).page(1), request=get())
    assert "<a " not in html and "1–3 of 3" in html


def test_a_bar_that_was_not_measured_is_hollow(language: str, draw: Draw) -> None:
    html = draw(
        "{% bar_chart rows kind='gpu' label='Unattributed' %}",
        rows=[BarRow("Known", 3, "3", "/k"), BarRow("Gap", None, "not measured")],
    )
    assert '<a class="clip" href="/k"' in html
    assert html.count('<rect class="f-k"') == 1 and html.count("f-track dash") == 1


def test_columns_name_their_ends_and_hatch_a_gap(language: str, draw: Draw) -> None:
    rows = [BarRow("11-28", 3, "3"), BarRow("11-29", None, "no data"), BarRow("11-30", 9, "9")]
    html = draw("{% column_chart rows kind='cpu' label='By day' %}", rows=rows)
    assert "<span>11-28</span>" in html and "<span>11-30: 9</span>" in html
    assert html.count("url(#p-lines)") == 1


def test_tabs_and_filters_are_links_that_say_which_is_current(language: str, draw: Draw) -> None:
    links = [Link("All", "/all", 12, current=True), Link("Failed", "/failed", 1, state="failed")]
    assert draw("{% tabs links 'Job' %}", links=links).count('aria-current="page"') == 1
    chips = draw("{% filters links csv='/csv' clear='/none' %}", links=links)
    assert chips.count('aria-current="true"') == 1 and "#s-failed" in chips and 'href="/csv"' in chips


def test_crumbs_end_with_the_page_itself(language: str, draw: Draw) -> None:
    html = draw("{% crumbs 'Jobs' '/jobs' 'j-1' %}")
    assert '<li><a href="/jobs">Jobs</a></li><li>j-1</li>' in html


class Size(forms.Form):
    cards = forms.IntegerField(label="Cards", max_value=8, help_text="Largest: 8")
    mode = forms.ChoiceField(label="Mode", choices=[("a", "A"), ("b", "B")], widget=forms.RadioSelect)
    keep = forms.BooleanField(label="Keep", required=False)
    note = forms.CharField(label="Note", required=False, widget=forms.Textarea)


def test_a_field_links_help_and_error_to_its_control(language: str, draw: Draw) -> None:
    html = draw("{% field form.cards unit='cards' %}", form=Size({"cards": "9"}))
    assert '<label for="id_cards">Cards</label>' in html
    assert 'aria-describedby="id_cards_helptext id_cards_error"' in html and 'aria-invalid="true"' in html
    assert 'id="id_cards_helptext"' in html and 'id="id_cards_error"' in html
    assert "<span>cards</span>" in html and 'class="in num"' in html


def test_a_field_without_help_or_error_is_linked_to_nothing(language: str, draw: Draw) -> None:
    html = draw("{% field form.note optional=True %}", form=Size())
    assert "aria-describedby" not in html and "aria-invalid" not in html
    assert 'rows="4"' in html


def test_a_group_of_choices_is_a_fieldset_with_a_legend(language: str, draw: Draw) -> None:
    html = draw("{% field form.mode %}", form=Size({}))
    assert html.startswith('<fieldset class="field" aria-describedby="id_mode_error">') and "<legend" in html


def test_a_check_box_stands_inside_its_label(language: str, draw: Draw) -> None:
    assert '<div class="field check"><label for="id_keep"><input' in draw("{% field form.keep %}", form=Size())


def test_a_bad_form_offers_a_jump_to_each_bad_field(language: str, draw: Draw) -> None:
    html = draw("{% form_errors form %}", form=Size({"cards": "9"}))
    assert 'role="alert"' in html and '<a href="#id_cards">Cards</a>' in html


def test_an_icon_is_hidden_unless_it_speaks(draw: Draw) -> None:
    assert 'aria-hidden="true"' in draw("{% icon 'house' %}")
    spoken = draw("{% icon 'house' 16 'Home \"<b>' %}")
    assert 'role="img"' in spoken and "<b>" not in spoken


def test_a_choice_card_needs_no_script(language: str, draw: Draw) -> None:
    html = draw(
        "{% include 'ui/choice.html' with name='size' value='a' checked=True kind='gpu' title='80 GB' left='8' %}"
    )
    assert '<input class="pick vh" type="radio" id="a" name="size" value="a" checked>' in html
    assert '<label class="class k-gpu" for="a">' in html


def test_a_log_shows_its_text_as_text(language: str, draw: Draw) -> None:
    html = draw("{% include 'ui/log.html' with url='/log' lines=lines %}", lines="<script>x</script>\n")
    assert "<script>" not in html and "&lt;script&gt;" in html
