"""The clock's passes over clusters: each is a task of its own, so that a cluster that hangs holds up no other."""

import pytest

from jobs import tasks
from resources.models import Cluster
from tests import builders as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(monkeypatch):
    """Keys of clusters that were passed over; a pass is always under way already."""
    keys: list[str] = []
    monkeypatch.setattr(tasks, "reconcile_cluster", lambda *, cluster, now: keys.append(cluster.key))
    return keys


def test_every_attached_cluster_gets_a_task_and_none_is_waited_for(asked, monkeypatch):
    sent = []
    monkeypatch.setattr(tasks, "enqueue", lambda *said: sent.append(said))
    one, two, gone = (make.make_cluster(key) for key in ("one", "two", "gone"))
    Cluster.objects.filter(pk=gone.pk).update(state=Cluster.State.DETACHED)
    tasks.reconcile_all_task()
    assert sorted(sent) == sorted(("jobs.pass_cluster", str(c.pk)) for c in (one, two))
    assert asked == []


def test_a_pass_that_is_under_way_is_enough_for_the_clock_but_not_for_who_asks(asked):
    cluster = make.make_cluster("one")
    tasks.pass_cluster_task(str(cluster.pk))
    assert asked == ["one"]
    asked.clear()
    tasks.reconcile_cluster_task(str(cluster.pk))
    assert len(asked) == tasks.WAITS
