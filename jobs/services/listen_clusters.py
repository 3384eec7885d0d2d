"""Listen to all clusters that can be listened to, and ask for an earlier look where something changed."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic

from portal.lib.locks import try_session_lock
from portal.lib.queue import enqueue
from resources.drivers.base import DriverUnavailable, Listener, Topic
from resources.models import Cluster
from resources.selectors.drivers import driver_for

log = logging.getLogger(__name__)
LISTEN_S = 5.0
MOST_EARS = 64
"""Watches at a time; what is beyond is looked at when it is time, as without any."""
APART_S = {Topic.WORKLOADS: 1.0, Topic.NODES: 4.0}
"""The least time between two looks asked for: in a storm of changes lists are cheaper than hints."""
LOOK = {Topic.WORKLOADS: "jobs.reconcile_cluster", Topic.NODES: "resources.sync_cluster"}
_POLL_S = 0.1
Heard = tuple[str, Topic]


def listen_clusters(*, seconds: float = LISTEN_S) -> int:
    """How many looks were asked for. One process listens at a time; every thread it starts has ended when it returns.

    A hint is never missed for good: the passes by the clock look at everything, hint or none.
    """
    with try_session_lock("listen") as held:
        if not held:
            return 0
        heard: SimpleQueue[Heard] = SimpleQueue()
        ears = list(_ears(heard, seconds))[:MOST_EARS]
        if not ears:
            return 0
        with ThreadPoolExecutor(len(ears), thread_name_prefix="ear") as pool:
            return _ask_for_looks(heard, [pool.submit(ear) for ear in ears])


def _ears(heard: "SimpleQueue[Heard]", seconds: float) -> Iterator[Callable[[], None]]:
    for cluster in Cluster.objects.exclude(state=Cluster.State.DETACHED).filter(endpoint__isnull=False):
        try:
            driver = driver_for(cluster)
        except DriverUnavailable as error:
            log.info("cluster %s is not listened to: %s", cluster.key, error.detail)
            continue
        if isinstance(driver, Listener):
            for topic in Topic:
                hint = partial(heard.put, (str(cluster.pk), topic))
                yield partial(driver.listen, topic, seconds=seconds, hint=hint)


def _ask_for_looks(heard: "SimpleQueue[Heard]", ears: "list[Future[None]]") -> int:
    """Until every ear has ended; this thread alone speaks to broker and database."""
    asked: dict[Heard, float] = {}
    waiting: set[Heard] = set()
    count = 0
    while waiting or not (heard.empty() and all(ear.done() for ear in ears)):
        with suppress(Empty):
            waiting.add(heard.get(timeout=_POLL_S))
        over = all(ear.done() for ear in ears)
        for one in list(waiting):
            if over or monotonic() - asked.get(one, -1e9) >= APART_S[one[1]]:
                enqueue(LOOK[one[1]], one[0])
                asked[one] = monotonic()
                waiting.discard(one)
                count += 1
    return count
