"""Personal tokens: made by session or password, shown once, kept as a digest, ended by age, deletion or block."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.test import Client

from portal.lib.errors import Invalid
from tenants.models import ApiToken, AuditEvent
from tenants.services.create_token import MOST_TOKENS, create_token
from tests import builders as make
from tests.builders import NOW
from tests.cast import Cast
from tests.integration.api.conftest import Api, As

PASSWORD = "correct horse battery"


@pytest.fixture
def browser(cast: Cast, as_user: As) -> Api:
    """The member with a session and no token."""
    api = as_user(None)
    api.client.force_login(cast.member)
    return api


def bearer(clear: str) -> Api:
    return Api(Client(), {"Authorization": f"Bearer {clear}"})


def test_a_session_makes_a_token_that_then_speaks_for_its_user(cast: Cast, browser: Api) -> None:
    response = browser.post("/tokens", {"name": "notebook"})
    assert response.status_code == 201 and response["Cache-Control"] == "no-store"
    made = response.json()
    assert made["name"] == "notebook" and made["read_only"] is False
    assert made["expires_at"] == (NOW + timedelta(days=90)).isoformat().replace("+00:00", "Z")
    assert bearer(made["token"]).get("/projects").json()["results"][0]["slug"] == "alpha"


def test_a_password_makes_a_token_without_a_session(cast: Cast, as_user: As) -> None:
    make.make_user("script", password=PASSWORD)
    body = {"name": "cron", "days": 1, "username": "script", "password": PASSWORD}
    response = as_user(None).post("/tokens", body)
    assert response.status_code == 201 and not response.cookies
    assert bearer(response.json()["token"]).get("/jobs").status_code == 200


def test_a_wrong_password_makes_none_and_is_counted_like_on_the_page(cast: Cast, as_user: As) -> None:
    make.make_user("script", password=PASSWORD)
    body = {"name": "cron", "username": "script", "password": "wrong"}
    api = as_user(None)
    answers = [api.post("/tokens", body) for _ in range(6)]
    assert [a.status_code for a in answers] == [401] * 5 + [429]
    assert answers[0].json()["reason"] == "WrongCredentials" and answers[0]["WWW-Authenticate"] == "Bearer"
    assert int(answers[-1]["Retry-After"]) > 0 and answers[-1].json()["reason"] == "TooManyTries"
    assert api.post("/tokens", body | {"password": PASSWORD}).status_code == 429
    assert ApiToken.objects.count() == 0
    assert AuditEvent.objects.filter(verb="session.refused", result="denied").count() == 6


def test_an_unknown_user_is_told_no_more_than_a_wrong_password(cast: Cast, as_user: As) -> None:
    make.make_user("script", password=PASSWORD)
    api, body = as_user(None), {"name": "cron", "password": "wrong"}
    known, unknown = (api.post("/tokens", body | {"username": name}).json() for name in ("script", "nobody"))
    assert known == unknown


def test_nobody_without_credentials_gets_one(as_user: As, db: None) -> None:
    response = as_user(None).post("/tokens", {"name": "mine"})
    assert (response.status_code, response.json()["reason"]) == (401, "NotAuthenticated")
    half = as_user(None).post("/tokens", {"name": "mine", "username": "member"})
    assert half.status_code == 422 and half.json()["fields"][0]["field"] == "password"


def test_a_token_makes_no_token(cast: Cast, as_user: As) -> None:
    response = as_user(cast.member).post("/tokens", {"name": "heir"})
    assert (response.status_code, response.json()["reason"]) == (403, "TokenMakesNoToken")


def test_the_token_is_shown_once_and_kept_as_a_digest(browser: Api) -> None:
    made = browser.post("/tokens", {"name": "notebook"}).json()
    listed = browser.get("/tokens").content.decode()
    row = ApiToken.objects.values().get()
    assert made["id"] in listed and made["token"] not in listed and row["digest"] not in listed
    assert made["token"] not in map(str, row.values())
    trail = str(list(AuditEvent.objects.values()))
    assert made["token"] not in trail and row["digest"] not in trail and made["id"] in trail


def test_only_ones_own_tokens_are_seen_and_deleted(cast: Cast, as_user: As) -> None:
    mine, theirs = as_user(cast.member), as_user(cast.owner)
    (row,) = mine.get("/tokens").json()["results"]
    assert theirs.delete(f"/tokens/{row['id']}").status_code == 404
    assert mine.delete(f"/tokens/{row['id']}").status_code == 204
    assert mine.get("/tokens").status_code == 401
    assert theirs.get("/tokens").status_code == 200
    assert AuditEvent.objects.filter(verb="token.deleted", actor_id=cast.member.pk).count() == 1


def test_a_token_ends_on_its_day(cast: Cast, browser: Api) -> None:
    api = bearer(browser.post("/tokens", {"name": "short", "days": 1}).json()["token"])
    with time_machine.travel(NOW + timedelta(hours=23, minutes=59), tick=False):
        assert api.get("/jobs").status_code == 200
    with time_machine.travel(NOW + timedelta(days=1, seconds=1), tick=False):
        assert api.get("/jobs").status_code == 401


def test_a_blocked_user_is_out_at_once(cast: Cast, as_user: As) -> None:
    api = as_user(cast.member)
    cast.member.is_active = False
    cast.member.save()
    assert api.get("/jobs").status_code == 401


def test_a_read_only_token_changes_nothing(cast: Cast, as_user: As, wanted: dict[str, Any]) -> None:
    token, clear = create_token(user=cast.member, name="look", now=NOW, read_only=True)
    api = bearer(clear)
    assert api.get("/jobs").status_code == 200
    for response in (api.post("/jobs", wanted), api.post("/jobs/preview", wanted), api.delete(f"/tokens/{token.key}")):
        assert (response.status_code, response.json()["reason"]) == (403, "ReadOnlyToken")


@pytest.mark.parametrize("days", [0, 366, -1, "30", 1.5, None, True])
def test_a_life_out_of_bounds_is_refused(browser: Api, days: object) -> None:
    response = browser.post("/tokens", {"name": "long", "days": days})
    assert response.status_code == 422 and response.json()["fields"][0]["field"] == "days"


def test_the_service_keeps_the_bounds_for_whoever_calls_it(cast: Cast) -> None:
    for name, days in (("x", 0), ("x", 366), ("", 1), ("a\x00b", 1)):
        with pytest.raises(Invalid):
            create_token(user=cast.member, name=name, days=days, now=NOW)


def test_nobody_hoards_tokens(cast: Cast, browser: Api) -> None:
    for number in range(MOST_TOKENS):
        create_token(user=cast.member, name=f"t{number}", now=NOW)
    response = browser.post("/tokens", {"name": "one more"})
    assert (response.status_code, response.json()["reason"]) == (409, "TooManyTokens")


def test_the_command_prints_a_token_that_works(cast: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("create-token", "member", "--name", "cli", "--days", "7")
    assert bearer(capsys.readouterr().out.strip()).get("/jobs").status_code == 200
