"""One pass over a fleet of 10,000 hosts and 100,000 waiting jobs of 200 shapes, reasons included.

The fleet of `pass-5k`, twice as large, with four times as many shapes. Memory is what the pass adds to the process.
"""

import resource
import time
from statistics import median

from jobs.scheduler.cycle import cycle
from jobs.scheduler.rules import Rules
from tests.bench.bench_pass_5k import build
from tests.bench.report import at_least, at_most, report

HOSTS, WAITING, SHAPES = 10_000, 100_000, 200


def main() -> int:
    """Measure and print; the exit code."""
    snapshot, rules = build(HOSTS, WAITING, SHAPES), Rules()
    print(f"policy: {rules}")
    wall, processor = [], []
    for _ in range(3):
        begun, used = time.perf_counter(), time.process_time()
        result = cycle(snapshot, rules)
        wall.append(time.perf_counter() - begun)
        processor.append(time.process_time() - used)
    print(f"processor time: {median(processor):.3g} s of {median(wall):.3g} s")
    print(f"shapes (with project): {result.stats.shapes}, admitted: {result.stats.admitted}")
    mebibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return report(
        [
            at_most("pass-10k", median(wall), "s", 3.0),
            at_most("pass-10k memory of the whole process, snapshot included", mebibytes, "MiB", 1024),
            at_least("pass-10k decisions with a reason or a host list", len(result.decisions), "jobs", WAITING),
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())
