"""Hints of changes: each asks for a look, a storm for few, and no thread outlives the call."""

import threading
import time

import pytest

from jobs.services import listen_clusters as module
from jobs.services.listen_clusters import listen_clusters
from resources.drivers.base import DriverUnavailable, Topic
from resources.models import Cluster, ClusterEndpoint
from tests import builders as make

pytestmark = pytest.mark.django_db


class Talks:
    """A driver that says what it is told to."""

    def __init__(self, say):
        self.say = say

    def listen(self, topic, *, seconds, hint):
        self.say(topic, seconds, hint)


@pytest.fixture
def asked(monkeypatch):
    found = []
    monkeypatch.setattr(module, "enqueue", lambda *said: found.append(said))
    return found


@pytest.fixture
def site(monkeypatch):
    """Three clusters that are reached over the network: one listens, one cannot be, one's driver has no ears."""
    drivers = {}
    for key in ("one", "two", "three"):
        ClusterEndpoint.objects.create(cluster=make.make_cluster(key), server="https://lab.example.org", namespace="x")

    def driver_for(cluster):
        if cluster.key == "two":
            raise DriverUnavailable("sealed with another key", reason="CredentialMissing")
        return drivers.get(cluster.key, object())

    monkeypatch.setattr(module, "driver_for", driver_for)
    return drivers, str(Cluster.objects.get(key="one").pk)


def test_what_was_heard_asks_for_the_look_of_its_kind(asked, site):
    drivers, key = site
    drivers["one"] = Talks(lambda topic, seconds, hint: hint())
    assert listen_clusters(seconds=1.0) == 2
    assert sorted(asked) == [("jobs.reconcile_cluster", key), ("resources.sync_cluster", key)]


def test_a_storm_asks_for_few_looks_and_its_last_word_is_heard(asked, site, monkeypatch):
    drivers, _key = site
    monkeypatch.setattr(module, "APART_S", {Topic.WORKLOADS: 0.5, Topic.NODES: 60.0})

    def storm(topic, seconds, hint):
        for _ in range(100):
            hint()
            time.sleep(0.01)

    drivers["one"] = Talks(storm)
    listen_clusters(seconds=1.0)
    looks = [task for task, _key in asked]
    assert 2 <= looks.count("jobs.reconcile_cluster") <= 5
    assert looks.count("resources.sync_cluster") == 2, "the first word and, when all is said, the last"


def test_no_thread_outlives_the_call(asked, site):
    drivers, _key = site
    drivers["one"] = Talks(lambda topic, seconds, hint: time.sleep(0.2))
    before = threading.active_count()
    assert listen_clusters(seconds=0.2) == 0
    assert threading.active_count() == before and asked == []


def test_a_driver_that_fails_to_listen_fails_nobody_else(asked, site):
    drivers, _key = site

    def fails(topic, seconds, hint):
        hint()
        raise RuntimeError("something nobody thought of")

    drivers["one"] = Talks(fails)
    assert listen_clusters(seconds=0.2) == 2
