"""Sentences call classes and pools as their reader does, whichever language their facts were kept in."""

import uuid

import pytest
from django.utils import translation

from jobs.sentences import sentence
from portal.lib.request_context import RequestContext, serving
from portal.web.notices import text_of
from resources.selectors.names import name_of
from tenants.models import Notice
from tests import builders as make

HELD = {"what": [["card", "device", 84_000], ["cpu", "cpu", 2_000]], "files": 0, "t": 1_790_000_000_000}
SHORT = {"pool": "Yard", "res": "CARD", "resource": "device", "free": 0, "total": 84_000, "need": 42_000}


@pytest.fixture
def catalogue(db):
    make.make_class("card", "GPU")
    pool = make.make_pool("yard")
    type(pool).objects.filter(pk=pool.pk).update(name={"en": "Yard", "zh-hans": "堆场"})


@pytest.mark.parametrize(
    ("language", "card", "pool"), [("en", "CARD", "Yard"), ("zh-hans", "card 类", "堆场")], ids=["en", "zh"]
)
def test_a_sentence_says_the_name_for_the_key_and_for_the_name_in_the_other_language(catalogue, language, card, pool):
    with translation.override(language):
        released = sentence("Released", HELD, make.NOW)
        short = sentence("InsufficientCapacity", SHORT, make.NOW)
        refused = sentence("PoolRefuses", {"list": ["yard", "gone"]}, make.NOW)
    assert card in released and card in short and pool in short
    assert pool in refused and "gone" in refused, "what is no pool any more keeps its key"


def test_a_notice_says_names_too(catalogue):
    facts = {"scope": "Alpha", "pool": "yard", "class": "card", "resource": "device", "guarantee": None,
             "nominal": 84_000, "ceiling": None}  # fmt: skip
    with translation.override("zh-hans"):
        said = text_of(Notice(event="quota.changed", facts=facts), make.NOW)
    assert "堆场" in said and "card 类" in said


def test_a_name_that_two_share_is_not_guessed(catalogue):
    other = make.make_pool("other")
    type(other).objects.filter(pk=other.pk).update(name={"en": "Yard", "zh-hans": "另一处"})
    with translation.override("zh-hans"):
        assert (name_of("pool", "Yard"), name_of("pool", "other")) == ("Yard", "另一处")


def test_names_are_read_once_a_request(catalogue, django_assert_num_queries):
    with serving(RequestContext(request_id=uuid.uuid4())), django_assert_num_queries(2):
        for _row in range(3):
            sentence("Released", HELD, make.NOW)
            sentence("InsufficientCapacity", SHORT, make.NOW)
