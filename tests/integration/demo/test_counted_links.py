"""On the demo fleet every count of every page leads to that many rows. What each role sees elsewhere is the business of
`pages/test_counted_links.py`; here it is the large and mixed data that counts."""

import pytest
import time_machine
from django.test import Client

from portal.lib.clock import utc_now
from portal.web.demo import seed_demo
from portal.web.demo.seed import seed_fleet
from resources.selectors import drivers
from tenants.models import User
from tests.integration.pages.test_counted_links import follow

JOBS = 160


@pytest.fixture
def fleet(db, settings, tmp_path):
    settings.STATE_DIR = tmp_path
    drivers._driver.cache_clear()
    now = utc_now()
    seed_demo(now=now, accounts=tmp_path / "accounts.json")
    seed_fleet(now=now, tell=lambda stage, done, total: None, jobs=JOBS)
    with time_machine.travel(utc_now(), tick=False):
        yield
    drivers._driver.cache_clear()


def test_every_count_leads_to_that_many_rows(fleet):
    wrong = {}
    for username in ("admin", "lead", "researcher"):
        client = Client()
        client.force_login(User.objects.get(username=username))
        found, followed = follow(client)
        if found:
            wrong[username] = found
        assert followed
    assert wrong == {}
