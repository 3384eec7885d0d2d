"""Many jobs that end together: no pass takes long, nobody is passed over, and who starts meanwhile does not wait."""

import re
import time
from collections import Counter

import pytest

from controlplane import steer
from jobs.models import Attempt, Job
from jobs.services import reconcile_cluster as module
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.models import Cluster
from tests.cast import cast, cast_rows
from tests.cluster.test_portal_on_kubernetes import NAMESPACE, rights, site, submit, work
from tests.cluster.waiting import until
from tests.cluster.workloads import pods

__all__ = ["cast", "cast_rows", "rights", "site"]
MANY = 24
LONGEST_S = 3.0


@pytest.fixture
def server(fault_proxy):
    return fault_proxy.url


def test_a_pass_over_many_ended_jobs_is_short_and_fair(cast, site, api, fault_proxy, monkeypatch):
    for number, name in enumerate(("STEP_S", "RELEASE_S", "KEEP_S", "PASS_S"), 1):
        monkeypatch.setattr(module, name, number * LONGEST_S / 6)
    steer.script_pods(api, NAMESPACE, duration=2.0, log="hello")
    jobs = [submit(cast, devices="0", device_class="", cpu="100m", memory="512Mi") for _ in range(MANY)]
    run_cycle(now=utc_now())
    while Attempt.objects.filter(job__in=jobs, job__state=JobState.ADMITTED).exists():
        reconcile_cluster(cluster=site, now=utc_now())
        run_cycle(now=utc_now())
    until(lambda: {pod["status"]["phase"] for pod in pods(api, NAMESPACE)} == {"Succeeded"}, seconds=60)
    time.sleep(2.5)  # the rate limit's burst is there again, as after a quiet while
    passes, cut = [], 0
    late: Job | None = None
    while Job.objects.filter(pk__in=[job.pk for job in jobs], archived_at__isnull=True).exists():
        began = time.monotonic()
        reconcile_cluster(cluster=site, now=utc_now())
        passes.append(time.monotonic() - began)
        cut += bool(Cluster.objects.get(pk=site.pk).pass_marks)
        if len(passes) == 2:
            late = submit(cast)
            run_cycle(now=utc_now())
        assert len(passes) < 300
    assert cut, "a pass never ran out of time: nothing was shown"
    assert max(passes) < LONGEST_S, passes
    work(site, late, JobState.SUCCEEDED, archived=True)
    attempts = {a.workload_name: a for a in Attempt.objects.filter(job__in=jobs)}
    assert len(attempts) == MANY and all(a.released_at and a.closed for a in attempts.values())
    logs = [found[1] for _method, target in fault_proxy.requests
            if "/log?" in target and (found := re.search(r"/pods/(j-[0-9a-f]+-1)-0-", target))]  # fmt: skip
    assert set(attempts) <= set(logs) and max(Counter(logs).values()) <= 2, "somebody was visited again and again"
    started = Attempt.objects.get(job=late)
    assert started.bound_at < max(a.released_at for a in attempts.values()), "it waited for all the others"
