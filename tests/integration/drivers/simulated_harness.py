"""A simulated driver over a temporary folder, with latencies of next to nothing."""

import json
import sqlite3
import uuid
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from portal.lib.failpoints import FAILPOINTS
from resources.drivers.base import MemberSpec, Workload
from resources.drivers.simulated.behaviour import HINTS
from resources.drivers.simulated.chance import Span
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.fleet import Fleet, Latency, read_fleet
from resources.drivers.simulated.records import read_applied
from resources.drivers.simulated.sqlite import FILE, SqliteStore
from tests.integration.drivers.local_harness import Caller
from tests.integration.drivers.steps import Script

NODE = "sim-node"
AT_ONCE = Latency(**dict.fromkeys(Latency.__slots__, Span(0, 0)))
_NOTE_INSERTS = (
    "CREATE TABLE IF NOT EXISTS inserts (name TEXT, body TEXT)",
    "CREATE TRIGGER IF NOT EXISTS note_inserts AFTER INSERT ON pods "
    "BEGIN INSERT INTO inserts VALUES (new.name, new.body); END",
)


def quick_fleet() -> Fleet:
    """One large node on which all happens at once and nothing ends that does not say when."""
    fleet = read_fleet({"name": "quick", "nodes": [{"name": NODE, "cpu": "1000", "memory": "4Ti"}]})
    return replace(fleet, latency=AT_ONCE, durations={})


class SimulatedHarness:
    """See `steps.Harness`. The file itself counts how often a workload was made."""

    failpoints = tuple(sorted((n for n in FAILPOINTS if n.startswith("simulated.store.")), reverse=True))
    address = r"[a-z0-9-]+\.sim-node\.invalid:[0-9]+"
    resolution, sees_idle = timedelta(), True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        SqliteStore(folder).read()
        with closing(sqlite3.connect(folder / FILE)) as connection:
            for statement in _NOTE_INSERTS:
                connection.execute(statement)
            connection.commit()

    def driver(self) -> SimulatedDriver:
        return SimulatedDriver(fleet=quick_fleet(), store=SqliteStore(self.folder))

    def workload(self, script: Script | str, **changes: Any) -> Workload:
        assert isinstance(script, Script), "nothing here runs a shell"
        key = uuid.uuid4().hex[:12]
        count, memory = changes.pop("members", 1), changes.pop("memory_bytes", 256 << 20)
        workload = Workload(
            name=f"j-{key}-a1",
            job_id=f"job-{key}",
            attempt_id=f"attempt-{key}",
            generation=1,
            task_type="batch",
            program="",
            command=("sh", "-c", script.shell),
            params={},
            members=tuple(MemberSpec(index, NODE, 1_000, memory) for index in range(count)),
            environment={HINTS: json.dumps(script.hints)},
        )
        return replace(workload, **changes)

    def unstartable(self, program: str) -> Workload:
        return self.workload(Script(program, {"reason": "StartFailed", "message": f"{program}: not found"}))

    def starts(self, workload: Workload) -> list[str]:
        with closing(sqlite3.connect(self.folder / FILE)) as connection:
            rows = connection.execute("SELECT body FROM inserts WHERE name = ?", (workload.name,)).fetchall()
        return sorted(str(member.index) for (body,) in rows for member in read_applied(body).members)

    def caller(self, workload: Workload, failpoints: str = "") -> Caller:
        return Caller(self, workload, failpoints, "apply")
