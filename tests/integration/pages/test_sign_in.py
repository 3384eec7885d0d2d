"""Signing in and out: limits, records, language, and where one lands."""

from datetime import timedelta
from io import BytesIO

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from tenants.models import AuditEvent, User
from tests import builders as make

PASSWORD = "a-long-enough-password"


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    """The real hasher takes its time on purpose."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def mira(db: None) -> User:
    return make.make_user("mira", password=PASSWORD)


def sign_in(client: Client, password: str, username: str = "mira", address: str = "127.0.0.1", **more: str):
    data = {"username": username, "password": password} | more
    return client.post("/login", data, REMOTE_ADDR=address)


def records(verb: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(verb=verb).order_by("seq"))


def test_the_right_password_signs_in_and_leaves_a_record(mira):
    response = sign_in(Client(), PASSWORD, address="10.1.2.3")
    assert (response.status_code, response["Location"]) == (302, "/")
    (record,) = records("session.signed_in")
    assert (record.actor_id, record.result, record.source_ip) == (mira.pk, "done", "10.1.2.3")


def test_a_wrong_password_is_refused_with_a_sentence_and_a_record_without_an_actor(mira):
    response = sign_in(Client(), "wrong")
    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()
    (record,) = records("session.refused")
    assert (record.actor_id, record.target_id, record.result) == (None, str(mira.pk), "denied")
    assert record.reason == "WrongCredentials"


def test_what_was_typed_as_an_unknown_name_is_not_kept(mira):
    sign_in(Client(), PASSWORD, username="my-secret-passphrase")
    (record,) = records("session.refused")
    assert "my-secret-passphrase" not in str(vars(record))


def test_an_empty_field_is_no_try_to_be_recorded(mira):
    assert sign_in(Client(), "").status_code == 422
    assert records("session.refused") == []


@pytest.mark.parametrize("username", ["x" * 5000, "mi\0ra", "\u202emira", "' OR 1=1 --", "{{ mira }}"])
def test_hostile_user_names_are_refused_and_never_an_error(mira, username):
    assert sign_in(Client(), PASSWORD, username=username).status_code == 422


def test_after_five_failures_even_the_right_password_waits(mira):
    for _ in range(5):
        assert sign_in(Client(), "wrong").status_code == 422
    response = sign_in(Client(), PASSWORD)
    assert response.status_code == 429
    assert 0 < int(response["Retry-After"]) <= 900
    assert not records("session.signed_in")


@pytest.mark.parametrize("spelling", ["mira ", " mira", "MIRA", "ｍira"])
def test_another_spelling_of_the_name_is_the_same_name_to_the_limit(mira, spelling):
    for _ in range(5):
        sign_in(Client(), "wrong")
    assert sign_in(Client(), PASSWORD, username=spelling).status_code == 429


def test_nobody_can_fill_the_disk_by_posting_files(mira):
    answer = Client().post(reverse("login"), {"username": "mira", "file": BytesIO(b"x" * 10)})
    assert answer.status_code == 400


def test_the_limit_is_audited_once_a_window(mira):
    for _ in range(9):
        sign_in(Client(), "wrong")
    reasons = [record.reason for record in records("session.refused")]
    assert reasons == ["WrongCredentials"] * 5 + ["TooManyTries"]


def test_the_limit_binds_one_name_at_one_address(mira):
    make.make_user("tomas", password=PASSWORD)
    for _ in range(6):
        sign_in(Client(), "wrong")
    assert sign_in(Client(), PASSWORD, username="tomas").status_code == 302
    assert sign_in(Client(), PASSWORD, address="10.9.9.9").status_code == 302
    assert sign_in(Client(), PASSWORD, username="MIRA").status_code == 429


def test_the_limit_ends_with_its_window(mira):
    for _ in range(6):
        sign_in(Client(), "wrong")
    with time_machine.travel(make.NOW + timedelta(minutes=15), tick=False):
        assert sign_in(Client(), PASSWORD).status_code == 302


def test_a_success_forgets_the_failures_before_it(mira):
    for _ in range(3):
        for _ in range(4):
            sign_in(Client(), "wrong")
        assert sign_in(Client(), PASSWORD).status_code == 302


def test_without_the_cache_nobody_is_let_in(mira, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "unix:///nonexistent/valkey.sock?db=0",
        }
    }
    response = sign_in(Client(), PASSWORD)
    assert response.status_code == 503
    assert "LimitsUnavailable" in response.content.decode()
    assert not records("session.signed_in")


@pytest.mark.parametrize(
    ("wanted", "location"), [("/usage/me", "/usage/me"), ("https://evil.example/", "/"), ("//evil.example", "/")]
)
def test_one_comes_back_to_the_page_asked_for_but_never_to_another_site(mira, wanted, location):
    assert sign_in(Client(), PASSWORD, next=wanted)["Location"] == location


def test_a_signed_in_person_is_sent_on_from_the_form(mira, as_user):
    assert as_user(mira).get("/login")["Location"] == "/"


def test_an_inactive_account_is_refused_like_an_unknown_one(mira):
    User.objects.filter(pk=mira.pk).update(is_active=False)
    inactive = sign_in(Client(), PASSWORD).content.decode()
    unknown = sign_in(Client(), PASSWORD, username="nobody").content.decode()
    assert "notice bad" in inactive
    assert inactive.count("notice bad") == unknown.count("notice bad")


def test_signing_out_needs_a_post_and_is_recorded(mira, as_user):
    client = as_user(mira)
    assert client.get("/logout").status_code == 405
    assert client.post("/logout").status_code == 302
    assert client.get("/")["Location"].startswith("/login")
    assert [record.actor_id for record in records("session.signed_out")] == [mira.pk]


def test_the_language_switch_is_remembered_with_the_person(mira, as_user):
    client = as_user(mira)
    response = client.post("/language", {"language": "zh-hans", "next": "/usage/me"})
    assert response["Location"] == "/usage/me"
    mira.refresh_from_db()
    assert mira.language == "zh-hans"
    assert '<html lang="zh-Hans">' in as_user(mira).get("/").content.decode()


def test_the_language_switch_works_before_signing_in(db):
    client = Client()
    client.post("/language", {"language": "zh-hans", "next": "/login"})
    assert '<html lang="zh-Hans">' in client.get("/login").content.decode()


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/x", "javascript:alert(1)"])
def test_the_language_switch_stays_on_this_site(mira, as_user, wanted):
    location = as_user(mira).post("/language", {"language": "en", "next": wanted})["Location"]
    assert "evil" not in location
    assert not location.startswith("javascript")


def test_the_language_switch_refuses_get_and_unknown_languages(mira, as_user):
    client = as_user(mira)
    assert client.get("/language").status_code == 405
    client.post("/language", {"language": "tlh"})
    mira.refresh_from_db()
    assert mira.language == ""
