"""Closing members that never started, so that they never will."""

from portal.lib.clock import to_ms
from resources.drivers.base import EndCause

from .launcher import records
from .launcher.records import Record
from .site import Site
from .store import Store


def close_unstarted(site: Site, store: Store, record: Record) -> None:
    """Write the exit record of every member without a claim, under the lock its launcher would need.

    A launcher that holds the lock now saw no stop request before it took it: it will find the request and obey.
    """
    for entry in record["members"]:
        folder = store.member(record["name"], entry["index"])
        with store.member_lock(record["name"], entry["index"]) as ours:
            if ours and not any((folder / kind).exists() for kind in (records.START, records.EXIT)):
                records.write(folder / records.EXIT, _never_started(to_ms(site.clock())))


def _never_started(at: int) -> Record:
    return {
        "ok": False,
        "reason": EndCause.STOPPED,
        "message": "stopped before it was started",
        "started_at": None,
        "finished_at": at,
        "exit_code": None,
        "signal": None,
        "max_rss_bytes": 0,
        "peak_bytes": 0,
    }
