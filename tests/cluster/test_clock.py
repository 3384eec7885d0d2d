"""A cluster whose clock is not the portal's: what is metered there is as long as it was, and its page says the gap."""

from datetime import timedelta

import pytest

from controlplane import steer
from jobs.models import Attempt
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.models import Cluster
from resources.services.sync_inventory import sync_inventory
from tests.cast import cast, cast_rows
from tests.cluster.test_portal_on_kubernetes import NAMESPACE, rights, site, submit, work

__all__ = ["cast", "cast_rows", "rights", "site"]


@pytest.fixture
def server(fault_proxy, ahead_s):
    """Behind a proxy that moves the cluster's clock."""
    fault_proxy.ahead_s = ahead_s
    return fault_proxy.url


@pytest.mark.parametrize("ahead_s", [612, -612], ids=["ahead", "behind"])
def test_a_run_is_as_long_as_it_was_whatever_the_clusters_clock(cast, site, api, client, ahead_s):
    steer.script_pods(api, NAMESPACE, duration=3.0, log="hello")
    before = utc_now()
    job = work(site, submit(cast), JobState.SUCCEEDED, archived=True)
    attempt = Attempt.objects.get(job=job)
    times = [attempt.admitted_at, attempt.bound_at, attempt.started_at, attempt.stopped_at, attempt.released_at]
    assert times == sorted(times) and before <= times[0] and times[-1] <= utc_now(), times
    assert timedelta(seconds=2) <= attempt.stopped_at - attempt.started_at <= timedelta(seconds=5)
    assert attempt.released_at - attempt.stopped_at < timedelta(seconds=4), "the run reads as release"
    assert attempt.corrected_times == {}, "nothing was left to put right"
    sync_inventory(cluster=site, now=utc_now())
    row = Cluster.objects.get(pk=site.pk)
    assert abs(row.clock_ahead_ms - ahead_s * 1_000) <= row.clock_within_ms + 200 <= 1_200
    client.force_login(cast.platform_admin)
    page = client.get("/clusters/lab").content.decode()
    said = "612 s ahead of the portal" if ahead_s > 0 else "612 s behind the portal"
    assert said in page and "Let both follow the same time servers." in page
    shown = client.get("/api/v1/clusters/lab").json()
    assert shown["cluster"]["clock_ahead_ms"] == row.clock_ahead_ms


@pytest.mark.parametrize("ahead_s", [0])
def test_a_clock_that_agrees_is_said_to(cast, site, client, ahead_s):
    client.force_login(cast.platform_admin)
    page = client.get("/clusters/lab").content.decode()
    assert "agrees with the portal&#x27;s" in page and "same time servers" not in page
