"""What credentials may do is asked again when nobody knows or it is old, of attached clusters only."""

from datetime import timedelta

import pytest

from resources import tasks
from resources.drivers.base import DriverUnavailable
from resources.models import ClusterCredential
from resources.services import renew_review as module
from resources.services.renew_review import renew_review
from resources.tasks import review_all, review_cluster
from tests.builders import NOW
from tests.integration.resources.attached import attach


@pytest.fixture
def asked(monkeypatch, settings, tmp_path):
    """Who was asked; every answer is yes."""
    settings.STATE_DIR = tmp_path
    rights: list[str] = []

    def asker(_cluster):
        def ask(right, _attributes):
            rights.append(right)
            return True

        return ask

    monkeypatch.setattr(module, "permission_asker", asker)
    return rights


def test_new_credentials_are_asked_about_at_once_and_again_after_an_hour(cast, asked):
    cluster = attach()
    assert renew_review(cluster=cluster, now=NOW) and set(asked) == {"observer", "runner"}
    asked.clear()
    assert not renew_review(cluster=cluster, now=NOW + timedelta(minutes=59)) and asked == []
    assert renew_review(cluster=cluster, now=NOW + timedelta(hours=1)) and asked
    assert set(ClusterCredential.objects.values_list("reviewed_at", flat=True)) == {NOW + timedelta(hours=1)}


def test_a_cluster_that_is_away_stays_unknown(cast, asked, monkeypatch):
    cluster = attach()

    def away(_right, _attributes):
        raise DriverUnavailable("away", reason="Unreachable")

    monkeypatch.setattr(module, "permission_asker", lambda _cluster: away)
    assert not renew_review(cluster=cluster, now=NOW)
    assert set(ClusterCredential.objects.values_list("reviewed_at", flat=True)) == {None}


def test_the_pass_asks_attached_clusters_that_are_reached_over_a_network_each_by_itself(cast, asked, monkeypatch):
    sent = []
    monkeypatch.setattr(tasks, "enqueue", lambda *said: sent.append(said))
    cluster = attach()
    cluster.state = "detached"
    cluster.save()
    review_all()
    assert sent == []
    cluster.state = "attached"
    cluster.save()
    review_all()
    assert sent == [("resources.review_cluster", str(cluster.pk))] and asked == []
    review_cluster(str(cluster.pk))
    assert asked
