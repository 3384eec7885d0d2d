"""The small parts of the local driver and its launcher."""

import http.server
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from resources.drivers import registry
from resources.drivers.base import DriverUnavailable, MemberSpec
from resources.drivers.local import clean
from resources.drivers.local.choose import choose_cpus, choose_port
from resources.drivers.local.driver import LocalDriver
from resources.drivers.local.inventory import parse_cpu_list, read_numa, usable_cpus
from resources.drivers.local.launcher import cgroup, health, processes, records
from resources.drivers.local.launcher.pump import Pump
from resources.drivers.local.launcher.sandbox import open_without_links
from resources.drivers.local.site import LocalOptions
from resources.drivers.local.store import Store

# --- records


def test_a_record_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    assert records.read(path) is None
    records.write(path, {"text": "数" * 1000})
    records.write(path, {"a": 1})
    assert records.read(path) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["record.json"]


def test_a_record_written_to_spare_blocks_has_no_rest_of_them(tmp_path: Path) -> None:
    records.set_aside(tmp_path / "exit.json")
    records.write(tmp_path / "exit.json", {"a": 1}, spare=True)
    assert (tmp_path / "exit.json").read_text() == '{"a": 1}'


def test_an_empty_record_is_none(tmp_path: Path) -> None:
    """A crash of the machine may leave one where a record was not durable."""
    (tmp_path / "state.json").touch()
    assert records.read(tmp_path / "state.json") is None


@pytest.mark.parametrize("text", ["[]", "1", '{"a"', "null"])
def test_what_is_no_record_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "record.json").write_text(text)
    with pytest.raises(ValueError):
        records.read(tmp_path / "record.json")


def test_a_process_is_known_by_pid_start_and_boot() -> None:
    pid, boot = os.getpid(), records.boot_id()
    ticks = records.start_ticks(pid)
    assert ticks is not None and records.same_process(pid, ticks, boot)
    assert not records.same_process(pid, ticks + 1, boot)
    assert not records.same_process(pid, ticks, "another-boot")
    assert not records.send_signal(pid, ticks + 1, boot, 9)
    assert records.send_signal(pid, ticks, boot, 0)


def test_a_zombie_is_no_process() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert records.start_ticks(pid) is None
    os.waitpid(pid, 0)


# --- fences


def test_a_fence_only_rises(tmp_path: Path) -> None:
    store = Store(tmp_path / "local")
    assert store.raise_fence("job", 3, "c")
    assert store.raise_fence("job", 3, "c"), "the same attempt passes as often as it likes"
    assert not store.raise_fence("job", 2, "b")
    assert not store.raise_fence("job", 3, "another")
    assert store.raise_fence("other-job", 1, "a")
    assert store.raise_fence("job", 3, "c", closed=True)
    assert not store.raise_fence("job", 3, "c")
    assert Store(tmp_path / "local").raise_fence("job", 4, "d"), "a newer attempt passes"
    assert not store.raise_fence("job", 3, "c")


def test_of_two_attempts_of_one_generation_one_passes(tmp_path: Path) -> None:
    store = Store(tmp_path / "local")
    passed: list[str] = []
    barrier = threading.Barrier(4)

    def try_to_pass(attempt: str) -> None:
        barrier.wait()
        if store.raise_fence("job", 1, attempt):
            passed.append(attempt)

    threads = [threading.Thread(target=try_to_pass, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 1


def test_fences_of_many_jobs_share_few_files(tmp_path: Path) -> None:
    store = Store(tmp_path / "local")
    for number in range(80):
        assert store.raise_fence(f"job-{number}", 2, "a")
    assert not any(store.raise_fence(f"job-{number}", 1, "a") for number in range(80))
    assert len(list((tmp_path / "local" / "fences").glob("*.json"))) <= 64


# --- choices


def test_the_least_used_cpus_are_chosen() -> None:
    usable = usable_cpus()
    member = MemberSpec(0, "here", 1000, 1)
    assert choose_cpus(member, []) == usable[:1]
    if len(usable) > 1:
        assert choose_cpus(member, [{"cpus": [usable[0]]}]) == (usable[1],)
        assert choose_cpus(replace(member, cpu_milli=1001), []) == usable[:2]
    assert choose_cpus(replace(member, cpu_milli=10**9), []) == usable, "no more than there are"
    assert choose_cpus(replace(member, cpus=(usable[-1],)), []) == (usable[-1],)


def test_ports_are_free_and_not_promised_to_others() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(DriverUnavailable):
            choose_port(range(port, port + 1), [])
    assert choose_port(range(port, port + 1), []) == port
    with pytest.raises(DriverUnavailable):
        choose_port(range(port, port + 1), [{"port": port}])


# --- inventory


@pytest.mark.parametrize(("text", "cpus"), [("0-2,8\n", (0, 1, 2, 8)), ("5", (5,)), ("\n", ()), ("0,2", (0, 2))])
def test_cpu_lists(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpu_list(text) == cpus


def test_numa_nodes_are_read_in_order_and_a_silent_one_has_no_figure(tmp_path: Path) -> None:
    for index, memory in ((10, "Node 10 MemTotal:       1024 kB\n"), (2, None)):
        folder = tmp_path / f"node{index}"
        folder.mkdir()
        (folder / "cpulist").write_text(f"{index}-{index + 1}\n")
        if memory:
            (folder / "meminfo").write_text(memory)
    first, second = read_numa(tmp_path)
    assert (first.index, first.cpus, first.memory_bytes) == (2, (2, 3), None)
    assert (second.index, second.memory_bytes) == (10, 1 << 20)


def test_a_tool_that_fails_makes_the_inventory_incomplete(tmp_path: Path) -> None:
    from resources.drivers.local.vendors import VENDORS

    tool = tmp_path / "armillary-test-smi"
    tool.write_text("#!/bin/sh\nexit 1\n")
    tool.chmod(0o700)
    vendor = replace(VENDORS[0], tool=tool.name, folders=(str(tmp_path),))
    driver = LocalDriver(
        tmp_path / "local",
        node_name="here",
        programs={},
        listens_beyond_loopback=False,
        options=LocalOptions(vendors=(vendor,)),
    )
    inventory = driver.inventory()
    assert not inventory.complete
    assert inventory.nodes[0].ready and "armillary-test-smi" in inventory.nodes[0].reason


# --- the pump


def pumped(tmp_path: Path, data: bytes, head: int, tail: int) -> tuple[bytes, int]:
    read, write = os.pipe()
    pump = Pump(read, str(tmp_path / "log"), head_bytes=head, tail_bytes=tail)
    for start in range(0, len(data), 4096):
        os.write(write, data[start : start + 4096])
        pump.feed()
    os.close(write)
    pump.feed()
    assert not pump.open
    pump.finish()
    return (tmp_path / "log").read_bytes(), pump.omitted


@pytest.mark.parametrize("size", [0, 1, 9, 10])
def test_a_log_that_fits_is_whole(tmp_path: Path, size: int) -> None:
    assert pumped(tmp_path, b"x" * size, head=10, tail=5) == (b"x" * size, 0)


def test_a_log_that_does_not_fit_keeps_both_ends(tmp_path: Path) -> None:
    data = bytes(range(256)) * 100
    log, omitted = pumped(tmp_path, data, head=1000, tail=300)
    assert log.startswith(data[:1000]) and log.endswith(data[-300:])
    assert omitted == len(data) - 1300
    assert log[1000:].startswith(b"\n[the log is full")
    assert f"\n[{omitted} bytes left out]\n".encode() in log


def test_a_log_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError):
        Pump(os.pipe()[0], str(tmp_path / "log"), head_bytes=1, tail_bytes=1)


# --- health


@pytest.fixture
def service() -> Iterator[http.server.HTTPServer]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response({"/well": 200, "/ill": 500}.get(self.path, 404))
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_health_is_a_200_from_the_service_itself(service: http.server.HTTPServer) -> None:
    port = service.server_port
    assert health.ask(port, "/well", lambda: True) == ""
    assert health.ask(port, "/ill", lambda: True) == "/ill answers 500"
    assert "another process" in health.ask(port, "/well", lambda: False)
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]
    assert "no answer" in health.ask(port, "/well", lambda: True)


def test_a_service_that_stops_answering_says_so_and_stays_once_ready(
    service: http.server.HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_WHILE_STARTING", "_WHEN_READY"):
        monkeypatch.setattr(health, name, 0.01)
    monkeypatch.setattr(health, "owns_port", lambda first, port: True)
    watch = health.HealthWatch(str(tmp_path), os.getpid(), service.server_port, "/well")
    watch.start()
    first = wait_for_health(tmp_path, healthy=True)
    service.shutdown()
    service.server_close()
    second = wait_for_health(tmp_path, healthy=False)
    watch.stop()
    assert first["ready_at"] == second["ready_at"] is not None
    assert "no answer" in str(second["message"])


def wait_for_health(folder: Path, *, healthy: bool) -> records.Record:
    for _ in range(500):
        found = records.read(folder / records.HEALTH)
        if found and found["healthy"] is healthy:
            return found
        time.sleep(0.01)
    raise AssertionError(f"never healthy={healthy}")


def test_a_port_is_owned_by_who_listens_below() -> None:
    listening_read, listening_write = os.pipe()
    with socket.socket() as mine:
        mine.bind(("127.0.0.1", 0))
        port = mine.getsockname()[1]
        child = os.fork()
        if child == 0:
            mine.listen()
            os.write(listening_write, b"x")
            time.sleep(30)
        os.read(listening_read, 1)
        assert health.owns_port(os.getpid(), port)
        assert not health.owns_port(child, port), "the child has no descendants"
        os.kill(child, 9)
        os.waitpid(child, 0)


# --- processes, groups, folders


def test_descendants_are_found_at_any_depth() -> None:
    ready_read, ready_write = os.pipe()
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.write(ready_write, json.dumps(os.getpid()).encode())
        time.sleep(30)
    grandchild = int(os.read(ready_read, 20))
    assert {child, grandchild} <= set(processes.descendants(os.getpid()))
    assert processes.memory_used(os.getpid(), 1 << 40) > 0
    os.kill(grandchild, 9)
    os.kill(child, 9)
    os.waitpid(child, 0)


def test_a_control_group_gets_the_limits(tmp_path: Path) -> None:
    """Against a plain folder with the kernel's file names: what is written, not what the kernel makes of it."""
    for name in ("cpu.max", "memory.max", "memory.oom.group", "pids.max"):
        (tmp_path / name).write_text("")
    cgroup.create(str(tmp_path), cpu_milli=1500, memory_bytes=1 << 20, processes=7)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == {
        "cpu.max": "150000 100000",
        "memory.max": "1048576",
        "memory.oom.group": "1",
        "pids.max": "7",
    }
    assert not cgroup.ran_out_of_memory(str(tmp_path))
    (tmp_path / "memory.events").write_text("low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n")
    (tmp_path / "memory.peak").write_text("1048576\n")
    assert cgroup.ran_out_of_memory(str(tmp_path))
    assert cgroup.peak_memory(str(tmp_path)) == 1 << 20


def test_cleaning_counts_what_is_there_and_never_follows_links(tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    keep.mkdir()
    (keep / "precious").write_text("x")
    scratch = tmp_path / "scratch"
    (scratch / "a" / "b" / "c").mkdir(parents=True)
    (scratch / "a" / "b" / "c" / "file").write_bytes(b"x" * 10_000)
    (scratch / "a" / "link").symlink_to(keep)
    (scratch / ".armillary-moved-7").mkdir()
    (scratch / ".armillary-moved-7" / "file").write_text("x")
    files, size = clean.measure_and_flatten(str(scratch))
    assert files == 3 and 10_000 <= size < 40_000
    assert clean.measure_and_flatten(str(scratch)) == (files, size)
    clean.remove(str(scratch))
    clean.remove(str(scratch))
    assert not scratch.exists() and (keep / "precious").exists()


def test_a_path_with_a_link_in_it_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    os.close(open_without_links(str(tmp_path.resolve() / "real")))
    for path in ("link", "link/x"):
        with pytest.raises(OSError):
            open_without_links(str(tmp_path.resolve() / path))


# --- registry


def test_a_driver_is_built_by_kind(tmp_path: Path) -> None:
    driver = registry.build_driver(
        "local", tmp_path / "local", node_name="here", programs={}, listens_beyond_loopback=False
    )
    assert isinstance(driver, LocalDriver)
    with pytest.raises(DriverUnavailable) as failure:
        registry.build_driver("nothing-of-the-kind")
    assert failure.value.reason == "KindUnknown"
