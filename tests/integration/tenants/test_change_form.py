"""A change in two steps: what it shows, what it refuses, and that nothing is stored before the last."""

import pytest

from tenants.models import Team
from tests.integration.tenants import change_urls
from tests.integration.tenants.steps import change, hidden, preview, save

pytestmark = pytest.mark.urls("tests.integration.tenants.change_urls")
PATH, ACT = "/rename/vision", "/act/vision"
FULL = {"name": "Vision two", "size": "l"}


@pytest.fixture
def client(cast, as_user):
    return as_user(cast.platform_admin)


def name() -> str:
    return Team.objects.get(slug="vision").name


def test_the_form_shows_the_values_of_today(client):
    page = client.get(PATH)
    assert page.status_code == 200 and 'value="Vision"' in page.content.decode()
    assert len(hidden(page)["digest"]) == 64


def test_a_preview_names_old_and_new_by_their_words_and_stores_nothing(client):
    page = preview(client, PATH, **FULL)
    rows = [(c.label, c.old, c.new) for c in page.context["preview"].changes]
    assert rows == [("Name", "Vision", "Vision two"), ("Size", "Small", "Large")]
    assert "3 jobs keep their place" in page.content.decode() and name() == "Vision"


def test_saving_stores_values_and_reason_and_leads_on(client):
    answer = change(client, PATH, reason="Merged", **FULL)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    assert Team.objects.filter(name="Vision two", contact="Merged").exists()


@pytest.mark.parametrize("reason", ["", "   ", "\u200d", "nul\0", "x" * 1_001])
def test_without_a_readable_reason_nothing_is_stored(client, reason):
    page = preview(client, PATH, **FULL)
    answer = save(client, PATH, page, reason)
    assert answer.status_code == 422 and 'id="id_reason_error"' in answer.content.decode()
    assert name() == "Vision"
    assert save(client, PATH, answer, "A reason").status_code == 302


def test_a_field_that_is_wrong_is_refused_beside_itself(client):
    answer = preview(client, PATH, name="nul\0", size="x")
    page = answer.content.decode()
    assert answer.status_code == 422 and 'id="id_name_error"' in page and 'id="id_size_error"' in page


def test_a_refusal_of_the_service_stands_beside_its_field_and_what_was_typed_stays(client):
    answer = change(client, PATH, **(FULL | {"name": "Taken"}))
    page = answer.content.decode()
    assert answer.status_code == 422 and "Taken is taken." in page and 'value="Taken"' in page


def test_nothing_changed_says_so(client):
    answer = preview(client, PATH, name="Vision", size="s")
    assert answer.status_code == 200 and "Nothing has changed" in answer.content.decode()
    assert b'value="save"' not in answer.content


def test_a_change_of_somebody_else_before_the_preview_is_shown_with_409(client):
    start = hidden(client.get(PATH))
    Team.objects.filter(slug="vision").update(name="Other")
    answer = client.post(PATH, {**start, **FULL, "step": "preview"})
    assert answer.status_code == 409 and "Changed meanwhile" in answer.content.decode()
    assert answer.context["preview"].changes[0].old == "Other"


def test_a_change_of_somebody_else_before_the_save_stores_nothing_and_can_be_decided_again(client):
    page = preview(client, PATH, **FULL)
    Team.objects.filter(slug="vision").update(name="Other")
    answer = save(client, PATH, page)
    assert answer.status_code == 409 and name() == "Other"
    assert answer.context["preview"].changes[0].old == "Other"
    assert save(client, PATH, answer).status_code == 302 and name() == "Vision two"


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_a_save_without_the_digest_of_a_preview_is_stale(client, digest):
    answer = client.post(PATH, {**FULL, "digest": digest, "reason": "Because", "step": "save"})
    assert answer.status_code == 409 and name() == "Vision"


def test_a_figure_that_moves_by_itself_does_not_make_a_preview_stale(client, monkeypatch):
    page = preview(client, PATH, **FULL)
    monkeypatch.setitem(change_urls.LIVE, "jobs", 4)
    assert save(client, PATH, page).status_code == 302


def test_a_second_click_changes_nothing_and_is_no_error(client):
    page = preview(client, PATH, name="Vision two", size="s")
    assert [save(client, PATH, page).status_code for _ in range(2)] == [302, 302]
    assert name() == "Vision two"


def test_back_to_editing_keeps_what_was_typed_and_the_reason(client):
    page = preview(client, PATH, **FULL, open="on")
    answer = client.post(PATH, {**hidden(page), "reason": "So far", "step": "edit"})
    text = answer.content.decode()
    assert answer.status_code == 200 and 'value="Vision two"' in text and "checked" in text
    assert hidden(answer)["reason"] == "So far"


def test_an_act_shows_what_blocks_it_and_cannot_be_done(client, cast):
    page = client.get("/act/organisation")
    assert "2 teams are below it" in page.content.decode() and b'value="save"' not in page.content
    answer = client.post("/act/organisation", {**hidden(page), "reason": "Anyway", "step": "save"})
    assert answer.status_code == 409 and not Team.objects.filter(contact="Anyway").exists()


def test_an_act_needs_a_reason_and_is_done_with_one(client):
    page = client.get(ACT)
    assert save(client, ACT, page, "").status_code == 422
    assert save(client, ACT, page, "It ends").status_code == 302
    assert Team.objects.get(slug="vision").contact == "It ends"


def test_the_change_page_speaks_both_languages(client, cast):
    cast.platform_admin.language = "zh-hans"
    cast.platform_admin.save()
    assert '<html lang="zh-Hans">' in preview(client, PATH, **FULL).content.decode()
