"""What the makers' tools say, read from samples of their real answers, and what a job is shown of it."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from resources.drivers.base import WHOLE_DEVICE, Idle
from resources.drivers.local.devices import Reading, device_groups, expose, idleness, read_devices
from resources.drivers.local.vendors import VENDORS, Vendor, parse_ascend, parse_nvidia, parse_rocm

GIB = 1 << 30
NVIDIA, ASCEND, AMD, HYGON = VENDORS

NVIDIA_ANSWER = """\
0, GPU-1ffe36ef-ac55-60ad-f9cf-623871e7736d, NVIDIA A40, 550.127.05, 46068, 1, 0, 00000000:4F:00.0
1, GPU-089608fe-cba5-4711-bf68-085fd0711d8c, NVIDIA A40, 550.127.05, 46068, 21034, 87, 00000000:52:00.0
2, GPU-33333333-cba5-4711-bf68-085fd0711d8c, NVIDIA A40, 550.127.05, [N/A], [N/A], [N/A], 00000000:53:00.0
"""

ASCEND_ONE_CHIP = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc2                 Version: 24.1.rc2                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 6     910B3               | OK            | 91.0        36                0    / 0             |
| 0                         | 0000:41:00.0  | 0           0    / 0          3401 / 65536         |
+===========================+===============+====================================================+
| 7     910B3               | Alarm         | 95.4        37                0    / 0             |
| 0                         | 0000:42:00.0  | 12          0    / 0          39400 / 65536        |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| No running processes found in NPU 6                                                            |
+===========================+===============+====================================================+
| 7       0                 | 1333928       | python                   | 37709                   |
+===========================+===============+====================================================+
"""

ASCEND_TWO_CHIPS = """\
| npu-smi 25.0.rc1                 Version: 25.0.rc1                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 1     Ascend910           | OK            | 186.3       36                0    / 0             |
| 0     2                   | 0000:99:00.0  | 0           0    / 0          3415 / 65536         |
+------------------------------------------------------------------------------------------------+
| 1     Ascend910           | OK            | -           36                0    / 0             |
| 1     3                   | 0000:9B:00.0  | 0           0    / 0          2888 / 65536         |
+===========================+===============+====================================================+
"""

ASCEND_WITHOUT_HBM = """\
| npu-smi 21.0.3.1                     Version: 21.0.3.1                       |
+-------------------+-----------------+----------------------------------------+
| NPU     Name      | Health          | Power(W)          Temp(C)              |
| Chip    Device    | Bus-Id          | AICore(%)         Memory-Usage(MB)     |
+===================+=================+========================================+
| 5       310P3     | OK              | 12.8              40                   |
| 0       0         | 0000:86:00.0    | 0                 1382 / 21534         |
+===================+=================+========================================+
"""

ROCM_ANSWER = """\
{"card0": {"Unique ID": "0x9246aa11bb22cc33", "GPU use (%)": "0", "VRAM Total Memory (B)": "17163091968",
 "VRAM Total Used Memory (B)": "27856896", "Card Series": "AMD Instinct MI210", "Card Model": "0x740f",
 "PCI Bus": "0000:C4:00.0"},
 "card1": {"Unique ID": "N/A", "GPU use (%)": "19", "VRAM Total Memory (B)": "67108864",
 "VRAM Total Used Memory (B)": "26079232", "Card series": "Raphael", "PCI Bus": "0000:C6:00.0"},
 "system": {"Driver version": "6.8.5"}}
"""


def test_nvidia() -> None:
    idle, busy, silent = parse_nvidia(NVIDIA_ANSWER)
    assert (idle.index, idle.uuid[:8], idle.model) == (0, "GPU-1ffe", "NVIDIA A40")
    assert (idle.memory_bytes, idle.used_bytes, idle.busy_percent) == (46068 << 20, 1 << 20, 0)
    assert (idle.bus_id, idle.driver_version, idle.healthy) == ("0000:4f:00.0", "550.127.05", True)
    assert (busy.used_bytes, busy.busy_percent) == (21034 << 20, 87)
    assert (silent.memory_bytes, silent.used_bytes, silent.busy_percent) == (None, None, None)


def test_ascend_with_one_chip_per_npu() -> None:
    idle, busy = parse_ascend(ASCEND_ONE_CHIP)
    assert (idle.index, idle.model, idle.uuid) == (6, "910B3", "pci-0000:41:00.0")
    assert (idle.memory_bytes, idle.used_bytes, idle.busy_percent) == (64 * GIB, 3401 << 20, 0)
    assert (idle.processes, idle.healthy, idle.driver_version) == (0, True, "24.1.rc2")
    assert (busy.processes, busy.healthy, busy.detail) == (1, False, "Alarm")


def test_ascend_with_two_chips_per_npu_is_numbered_by_chip() -> None:
    first, second = parse_ascend(ASCEND_TWO_CHIPS)
    assert (first.index, second.index) == (2, 3)
    assert first.uuid != second.uuid
    assert first.processes is None, "the answer has no table of processes: not the same as none"


def test_ascend_without_hbm_reads_plain_memory() -> None:
    (device,) = parse_ascend(ASCEND_WITHOUT_HBM)
    assert (device.memory_bytes, device.used_bytes) == (21534 << 20, 1382 << 20)


def test_rocm() -> None:
    first, second = parse_rocm("warning: something\n" + ROCM_ANSWER)
    assert (first.uuid, first.model, first.index) == ("GPU-9246aa11bb22cc33", "AMD Instinct MI210", 0)
    assert (second.uuid, second.model) == ("pci-0000:c6:00.0", "Raphael")
    assert first.driver_version == "6.8.5"


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
@pytest.mark.parametrize(
    "answer", ["No devices were found", "{}", '{"card0": {"a": "b"', "0, GPU-1", "| 1 | 2 | 3 |", "\0" * 99]
)
def test_an_answer_not_understood_is_an_error_not_an_empty_machine(vendor: Vendor, answer: str) -> None:
    with pytest.raises((ValueError, KeyError, IndexError)):
        vendor.parse(answer)


@pytest.mark.parametrize(
    ("model", "resource"),
    [
        ("910B3", "huawei.com/Ascend910"),
        ("Ascend910", "huawei.com/Ascend910"),
        ("310P3", "huawei.com/Ascend310P"),
        ("310", "huawei.com/Ascend310"),
    ],
)
def test_resource_names_follow_the_model(model: str, resource: str) -> None:
    assert ASCEND.resource_name(model) == resource


def test_groups_count_devices_in_parts_and_keep_the_unhealthy_out_of_what_may_be_used() -> None:
    (group,) = device_groups([Reading(ASCEND, parse_ascend(ASCEND_ONE_CHIP))])
    assert (group.resource_name, group.kind, group.vendor) == ("huawei.com/Ascend910", "NPU", "Huawei Ascend")
    assert (group.capacity_parts, group.allocatable_parts) == (2 * WHOLE_DEVICE, WHOLE_DEVICE)
    assert [device.healthy for device in group.devices] == [True, False]


def test_idleness_is_never_guessed() -> None:
    readings = [Reading(NVIDIA, parse_nvidia(NVIDIA_ANSWER)), Reading(ASCEND, parse_ascend(ASCEND_ONE_CHIP))]
    nvidia, ascend = readings[0].devices, readings[1].devices
    seen = idleness([*(device.uuid for device in (*nvidia, *ascend)), "gone"], readings)
    assert list(seen.values()) == [
        Idle.IDLE,
        Idle.BUSY,
        Idle.NOT_OBSERVED,
        Idle.IDLE,
        Idle.BUSY,
        Idle.NOT_OBSERVED,
    ]


def test_a_device_that_holds_memory_without_computing_is_busy() -> None:
    device = replace(parse_nvidia(NVIDIA_ANSWER)[0], used_bytes=5 * GIB)
    assert idleness([device.uuid], [Reading(NVIDIA, (device,))]) == {device.uuid: Idle.BUSY}


def test_a_job_is_shown_its_devices_and_no_others() -> None:
    readings = [Reading(NVIDIA, parse_nvidia(NVIDIA_ANSWER)), Reading(ASCEND, parse_ascend(ASCEND_ONE_CHIP))]
    uuid = readings[0].devices[1].uuid
    environment = expose([uuid], VENDORS, readings).environment
    assert environment["CUDA_VISIBLE_DEVICES"] == uuid
    assert environment["ASCEND_RT_VISIBLE_DEVICES"] == ""
    none = expose([], VENDORS, readings).environment
    assert none and set(none.values()) == {""}


def test_variables_a_maker_shares_with_another_do_not_hide_its_devices() -> None:
    readings = [Reading(AMD, parse_rocm(ROCM_ANSWER))]
    environment = expose(["GPU-9246aa11bb22cc33"], VENDORS, readings).environment
    assert environment["ROCR_VISIBLE_DEVICES"] == "0"
    assert "CUDA_VISIBLE_DEVICES" not in environment


def test_a_device_of_another_machine_is_an_error() -> None:
    with pytest.raises(KeyError):
        expose(["GPU-elsewhere"], VENDORS, [])


# --- the tools themselves


@pytest.fixture
def tool(tmp_path: Path) -> Vendor:
    return replace(NVIDIA, tool="armillary-test-smi", folders=(str(tmp_path),))


def install(vendor: Vendor, script: str) -> None:
    path = Path(vendor.folders[0], vendor.tool)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_no_tool_means_no_such_devices(tool: Vendor) -> None:
    assert read_devices([tool]) == ()


def test_a_tool_that_answers(tool: Vendor) -> None:
    install(tool, f"cat <<'END'\n{NVIDIA_ANSWER}END")
    (reading,) = read_devices([tool])
    assert (len(reading.devices), reading.failure) == (3, "")


@pytest.mark.parametrize("script", ["exit 9", "echo nonsense", "kill -9 $$", "exec head -c 100 /dev/urandom"])
def test_a_tool_that_fails_leaves_its_devices_unknown(tool: Vendor, script: str) -> None:
    install(tool, script)
    (reading,) = read_devices([tool])
    assert reading.devices == () and reading.failure.startswith(tool.tool)


def test_a_tool_that_hangs_is_given_up(tool: Vendor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.drivers.local.devices._TIME_OUT_S", 0.2)
    install(tool, "exec sleep 30")
    (reading,) = read_devices([tool])
    assert "timed out" in reading.failure
