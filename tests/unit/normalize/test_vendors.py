"""Each maker's nodes as its plugin and labeller publish them, made up after their public documents."""

import json
from typing import Any

import pytest

from resources.normalize import read_node
from tests.unit.normalize.nodes import GIB, MIB, a_node, group_of, names, only, told

A100_MIG = {
    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
    "nvidia.com/gpu.count": "14",
    "nvidia.com/gpu.memory": "4864",
    "nvidia.com/mig.strategy": "single",
}
T4_MPS = {
    "nvidia.com/gpu.product": "Tesla-T4-SHARED",
    "nvidia.com/gpu.count": "2",
    "nvidia.com/gpu.memory": "15360",
    "nvidia.com/gpu.replicas": "4",
    "nvidia.com/gpu.sharing-strategy": "mps",
}
TWO_4090 = "GPU-a,10,24564,NVIDIA-RTX4090,true,hami-core:GPU-b,10,24564,NVIDIA-RTX4090,false,hami-core:"


def test_single_strategy_slices_have_the_slices_memory_and_no_count_of_cards() -> None:
    group = group_of({"nvidia.com/gpu": "14"}, labels=A100_MIG)
    assert told(group) == ("NVIDIA A100-SXM4-40GB", 4864 * MIB, None, 14, 14, "mig-single", "healthy")
    assert group.profile == "1g.5gb"


def test_more_cards_than_the_labels_count_is_a_conflict_where_they_say_that_nothing_is_shared() -> None:
    labels = {"nvidia.com/gpu.count": "4", "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none"}
    group = group_of({"nvidia.com/gpu": "8"}, labels=labels)
    assert told(group)[2:] == (None, 8, 8, "exclusive", "unknown")
    assert names(group.reasons) == {"CountLabelDisagrees"}


def test_slices_the_plugin_cannot_serve_are_no_healthy_ones() -> None:
    labels = A100_MIG | {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-INVALID", "nvidia.com/gpu.memory": "0"}
    group = group_of({"nvidia.com/gpu": "2"}, labels=labels)
    assert (group.health.value, group.memory_bytes) == ("unknown", None)
    assert "ProfileInvalid" in names(group.reasons)


def test_whole_cards_beside_sliced_ones_are_told_apart_by_the_count() -> None:
    labels = {"nvidia.com/gpu.count": "8", "nvidia.com/mig.strategy": "mixed"}
    capacity = {"nvidia.com/gpu": "6", "nvidia.com/mig-3g.40gb": "4"}
    whole, slices = read_node(a_node(capacity, labels=labels)).devices
    assert told(whole) == (None, None, 6, 6, 6, "exclusive", "healthy")
    assert told(slices) == (None, None, 2, 4, 4, "mig-mixed", "healthy")


def test_as_many_whole_cards_as_there_are_beside_slices_is_a_conflict() -> None:
    capacity = {"nvidia.com/gpu": "2", "nvidia.com/mig-1g.5gb": "14"}
    whole, slices = read_node(a_node(capacity, labels={"nvidia.com/gpu.count": "2"})).devices
    assert (whole.physical_total, whole.health.value) == (None, "unknown")
    assert names(whole.reasons) == {"WholeCountConflictsWithSlices"}
    assert (slices.physical_total, slices.health.value) == (None, "healthy")


def test_mps_on_the_plain_name() -> None:
    assert told(group_of({"nvidia.com/gpu": "8"}, labels=T4_MPS)) == (
        "Tesla T4", 15360 * MIB, 2, 8, 8, "mps", "healthy",
    )  # fmt: skip


def test_mps_on_the_renamed_resource() -> None:
    capacity = {"nvidia.com/gpu": "0", "nvidia.com/gpu.shared": "8"}
    assert told(group_of(capacity, labels=T4_MPS)) == ("Tesla T4", 15360 * MIB, 2, 8, 8, "mps", "healthy")


def test_the_labellers_older_form_means_time_slices() -> None:
    labels = {key: value for key, value in T4_MPS.items() if "strategy" not in key}
    group = group_of({"nvidia.com/gpu": "8"}, labels=labels)
    assert (group.sharing, group.physical_total) == ("time-slicing", 2)
    assert names(group.reasons) == {"Oversubscribed"}


def test_sharing_that_labels_ask_for_and_nothing_applies() -> None:
    group = group_of({"nvidia.com/gpu": "2"}, labels=T4_MPS)
    assert (group.sharing, group.physical_total, group.health.value) == ("exclusive", 2, "healthy")
    assert names(group.reasons) == {"SharingNotApplied"}


def test_a_cloud_that_names_strategy_and_clients_but_no_count() -> None:
    labels = {
        "cloud.google.com/gke-accelerator": "nvidia-l4",
        "cloud.google.com/gke-gpu-sharing-strategy": "time-sharing",
        "cloud.google.com/gke-max-shared-clients-per-gpu": "4",
    }
    assert told(group_of({"nvidia.com/gpu": "8"}, labels=labels)) == (
        "nvidia-l4", None, 2, 8, 8, "time-slicing", "healthy",
    )  # fmt: skip


def test_a_card_that_fell_off_is_missed() -> None:
    group = group_of({"nvidia.com/gpu": "7"}, labels={"nvidia.com/gpu.count": "8"})
    assert told(group) == (None, None, 8, 7, 7, "exclusive", "degraded")


@pytest.mark.parametrize("capacity", [{}, {"nvidia.com/gpu": "0"}])
def test_labelled_cards_that_nothing_advertises(capacity: dict[str, str]) -> None:
    labels = {"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.count": "4", "nvidia.com/gpu.memory": "15360"}
    assert told(group_of(capacity, labels=labels)) == ("Tesla T4", 15360 * MIB, 4, 0, 0, "exclusive", "unhealthy")


def test_hami_in_the_older_domain_and_with_amounts_in_the_status() -> None:
    register = "GPU-a,5,24576,100,NVIDIA-NVIDIA A10,0,true:"
    capacity = {"nvidia.com/gpu": "5", "nvidia.com/gpumem": "24576", "nvidia.com/gpucores": "100"}
    reading = read_node(a_node(capacity, annotations={"4pd.io/node-nvidia-register": register}))
    assert told(only(reading)) == ("NVIDIA A10", 24 * GIB, 1, 5, 5, "hami", "healthy")
    assert {one.belongs_to for one in reading.companions} == {"nvidia.com/gpu"}


def test_two_models_under_one_name_are_two_groups_when_their_slots_add_up() -> None:
    register = "GPU-a,4,24576,100,NVIDIA-NVIDIA A10,0,true:GPU-b,4,81920,100,NVIDIA-NVIDIA A100,0,true:"
    groups = read_node(a_node({"nvidia.com/gpu": "8"}, annotations={"hami.io/node-nvidia-register": register})).devices
    assert [told(group)[:5] for group in groups] == [
        ("NVIDIA A10", 24 * GIB, 1, 4, 4),
        ("NVIDIA A100", 80 * GIB, 1, 4, 4),
    ]
    mixed = group_of(
        {"nvidia.com/gpu": "8"}, {"nvidia.com/gpu": "7"}, annotations={"hami.io/node-nvidia-register": register}
    )
    assert (mixed.model, mixed.memory_bytes, mixed.physical_total) == (None, None, 2)
    assert "MixedModels" in names(mixed.reasons)


def test_a_list_whose_plugin_was_removed_is_left_over() -> None:
    annotations = {
        "hami.io/node-nvidia-register": "GPU-a,4,24576,100,NVIDIA-NVIDIA A10,0,true:",
        "hami.io/node-handshake-nvidia": "Deleted_2026.11.30 10:00:00",
    }
    group = group_of({"nvidia.com/gpu": "4"}, annotations=annotations)
    assert (group.health.value, names(group.reasons)) == ("unknown", {"HandshakeDeleted"})


@pytest.mark.parametrize(
    "register",
    [
        "GPU-a,10,40960,100,NVIDIA-NVIDIA A100,0,true:GPU-b,10,4096",
        "GPU-a,10,40960,100,NVIDIA-NVIDIA A100,0,true:GPU-b,ten,40960,100,NVIDIA-NVIDIA A100,0,true:",
        "GPU-a,10,40960,100,NVIDIA-NVIDIA A100,0,true:GPU-a,10,40960,100,NVIDIA-NVIDIA A100,0,true:",
        '[{"id": "GPU-a", "count": 10, "devmem": 40960, "type": "NVIDIA-NVIDIA A100"}, {"id": 7}]',
        "[{",
        "{}",
        "[" * 5000,
        ",,,,,,,,,:::::",
    ],
)
def test_a_damaged_list_counts_no_cards(register: str) -> None:
    group = group_of({"nvidia.com/gpu": "20"}, annotations={"hami.io/node-nvidia-register": register})
    assert (group.physical_total, group.slots_total, group.health.value) == (None, 20, "unknown")
    assert "RegisterMalformed" in names(group.reasons)


@pytest.mark.parametrize(
    "register",
    [
        TWO_4090,
        TWO_4090.replace(",hami-core", ""),
        json.dumps(
            [
                {"id": "GPU-a", "count": 10, "devmem": 24564, "devcore": 100, "type": "NVIDIA-RTX4090", "health": True},
                {"id": "GPU-b", "index": 1, "count": 10, "devmem": 24564, "type": "NVIDIA-RTX4090", "health": False},
            ]
        ),
    ],
)
def test_volcanos_vgpu_in_each_form_of_its_list(register: str) -> None:
    capacity = {"nvidia.com/gpu": "0", "volcano.sh/vgpu-number": "20", "volcano.sh/vgpu-memory": "49128"}
    reading = read_node(
        a_node(
            capacity,
            capacity | {"volcano.sh/vgpu-number": "10"},
            annotations={"volcano.sh/node-vgpu-register": register},
        )
    )
    assert told(only(reading)) == ("RTX4090", 24564 * MIB, 2, 20, 10, "volcano-vgpu", "degraded")
    assert [one.belongs_to for one in reading.companions] == ["volcano.sh/vgpu-number"]
    assert reading.ignored == ("nvidia.com/gpu",)


def test_volcanos_vgpu_and_whole_cards_of_the_same_node_clash() -> None:
    whole, vgpu = read_node(a_node({"nvidia.com/gpu": "2", "volcano.sh/vgpu-number": "20"})).devices
    assert (whole.physical_total, whole.health.value, names(whole.reasons)) == (None, "unknown", {"OverlapsWith"})
    assert vgpu.sharing == "volcano-vgpu"


def device_info(**lists: str) -> dict[str, Any]:
    inner = {"DeviceInfo": {"DeviceList": {f"huawei.com/Ascend910{key}": text for key, text in lists.items()}}}
    return {"metadata": {"name": "mindx-dl-deviceinfo-node-a"}, "data": {"DeviceInfoCfg": json.dumps(inner)}}


def test_ascend_chips_by_the_list_of_their_device_plugin() -> None:
    labels = {"accelerator": "huawei-Ascend910", "node.kubernetes.io/npu.chip.name": "910B3"}
    info = device_info(**{"": "Ascend910-0,Ascend910-1", "-Unhealthy": "Ascend910-4", "-NetworkUnhealthy": ""})
    node = a_node({"huawei.com/Ascend910": "8"}, {"huawei.com/Ascend910": "7"}, labels=labels)
    group = only(read_node(node, config_maps=info))
    assert told(group) == ("Ascend 910B3", None, 8, 8, 7, "exclusive", "degraded")
    assert [(one.name, dict(one.facts)) for one in group.reasons] == [
        ("DeviceUnhealthy", {"device": "Ascend910-4"}),
        ("DevicesWithdrawn", {"count": 1}),
    ]


@pytest.mark.parametrize("state", ["-NetworkUnhealthy", "-Recovering"])
def test_an_ascend_chip_without_network_degrades_though_it_is_advertised(state: str) -> None:
    node = a_node({"huawei.com/Ascend910": "8"})
    group = only(read_node(node, config_maps=[device_info(**{state: "Ascend910-2"})]))
    assert (group.slots_schedulable, group.health.value) == (8, "degraded")


def test_ascend_chips_cut_by_template() -> None:
    capacity = {"huawei.com/Ascend310P": "6", "huawei.com/Ascend310P-2c.1cpu": "4", "huawei.com/npu-core": "56"}
    reading = read_node(a_node(capacity, labels={"servertype": "Ascend310P-8"}))
    whole, cut = reading.devices
    assert told(whole) == ("Ascend 310P", None, 6, 6, 6, "exclusive", "healthy")
    assert told(cut) == ("Ascend 310P", None, None, 4, 4, "vnpu", "healthy")
    assert cut.profile == "2c.1cpu"
    assert [one.resource for one in reading.companions] == ["huawei.com/npu-core"]


def test_ascend_ai_cores_alone_make_chips() -> None:
    group = group_of({"huawei.com/npu-core": "56"}, labels={"servertype": "Ascend310P-8"})
    assert told(group) == ("Ascend 310P", None, 7, 56, 56, "vnpu", "healthy")
    assert group_of({"huawei.com/npu-core": "56"}).physical_total is None


def test_ascend_under_a_sharing_layer_has_companions_not_more_devices() -> None:
    card = {"count": 7, "devmem": 21527, "devcore": 8, "type": "Ascend310P", "health": True}
    register = json.dumps([card | {"id": "p-0"}, card | {"id": "p-1", "index": 1}])
    capacity = {"huawei.com/Ascend310P": "14", "huawei.com/Ascend310P-memory": "43054"}
    reading = read_node(a_node(capacity, annotations={"hami.io/node-register-Ascend310P": register}))
    assert told(only(reading)) == ("Ascend 310P", 21527 * MIB, 2, 14, 14, "hami", "healthy")
    assert [one.belongs_to for one in reading.companions] == ["huawei.com/Ascend310P"]


def test_ascend_in_other_spellings() -> None:
    for label, model in (("Ascend910B-20", "Ascend 910B"), ("Ascend310P-8", "Ascend 910")):
        assert group_of({"huawei.com/Ascend910": "8"}, labels={"servertype": label}).model == model
    assert group_of({"huawei.com/ascend-1980": "8"}).model == "Ascend 1980"
    assert group_of({"huawei.com/Ascend310P-V": "4"}).model == "Ascend 310P-V"
    assert group_of({"huawei.com/npu": "8"}, labels={"accelerator": "huawei-Ascend910"}).model == "Ascend 910"
    assert told(group_of({}, labels={"accelerator": "huawei-Ascend910"}))[1:] == (
        None, None, 0, 0, "exclusive", "unhealthy",
    )  # fmt: skip


def test_cambricon_by_percent_of_its_cores() -> None:
    capacity = {"cambricon.com/mlu370.smlu.vcore": "800", "cambricon.com/mlu370.smlu.vmemory": "768"}
    assert told(group_of(capacity)) == ("MLU370", 24 * GIB, 8, 800, 800, "smlu", "healthy")


def test_cambricon_cards_counted_once_beside_their_percent() -> None:
    capacity = {"cambricon.com/vmlu": "80", "cambricon.com/mlu.smlu.vcore": "800", "cambricon.com/real-mlu-counts": "8"}
    reading = read_node(a_node(capacity))
    assert told(only(reading)) == (None, None, 8, 80, 80, "smlu", "healthy")
    assert len(reading.companions) == 2


def test_hygon_by_list_and_by_percent() -> None:
    register = "DCU-0,4,65520,100,DCU-K100_AI,0,true:DCU-1,4,65520,100,DCU-K100_AI,1,true:"
    capacity = {"hygon.com/dcunum": "8", "hygon.com/dcumem": "131040", "hygon.com/dcucores": "200"}
    group = group_of(capacity, annotations={"hami.io/node-dcu-register": register})
    assert told(group) == ("K100_AI", 65520 * MIB, 2, 8, 8, "hami", "healthy")
    assert group_of(capacity).physical_total == 2
    assert told(group_of({"hygon.com/dcu": "8"})) == (None, None, 8, 8, 8, "exclusive", "healthy")


def test_amd_partitions_under_names_of_their_own() -> None:
    group = group_of({"amd.com/cpx_nps4": "64"}, labels={"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"})
    assert told(group) == ("AMD Instinct MI300X OAM", None, 8, 64, 64, "amd-partition", "healthy")
    odd = group_of({"amd.com/cpx_nps4": "63"})
    assert (odd.physical_total, names(odd.reasons)) == (None, {"SlotsNotDivisible"})


def test_amd_in_one_partition_is_whole_and_its_labels_may_count() -> None:
    labels = {
        "amd.com/gpu.vram.192G": "8",
        "amd.com/gpu.product-name.MI300X": "8",
        "amd.com/compute-memory-partition": "spx_nps1",
    }
    assert told(group_of({"amd.com/gpu": "8"}, labels=labels)) == (
        "MI300X", 192 * GIB, 8, 8, 8, "exclusive", "healthy",
    )  # fmt: skip


def test_amd_cards_of_two_sizes_have_no_size() -> None:
    labels = {"beta.amd.com/gpu.vram.16G": "1", "beta.amd.com/gpu.vram.32G": "1"}
    group = group_of({"amd.com/gpu": "2"}, labels=labels)
    assert (group.memory_bytes, group.physical_total, names(group.reasons)) == (None, 2, {"MixedModels"})


def test_intel_shares_are_seen_by_the_count_of_cards() -> None:
    group = group_of({"gpu.intel.com/i915": "20"}, labels={"gpu.intel.com/device-id.0380-56c1.count": "2"})
    assert told(group) == (None, None, 2, 20, 20, "shared-unknown", "healthy")


@pytest.mark.parametrize(
    ("capacity", "vendor", "kind", "physical", "sharing", "model"),
    [
        ({"mthreads.com/gpu": "8"}, "mthreads", "gpu", 8, "exclusive", None),
        ({"iluvatar.com/gpu": "16"}, "iluvatar", "gpu", 16, "exclusive", None),
        (
            {"iluvatar.ai/BI-V150-vgpu": "40", "iluvatar.ai/BI-V150.vMem": "9"},
            "iluvatar",
            "gpu",
            None,
            "hami",
            "BI-V150",
        ),
        ({"iluvatar.ai/vgpu": "20", "iluvatar.ai/vcuda-core": "200"}, "iluvatar", "gpu", 2, "hami", None),
        ({"enflame.com/gcu": "8"}, "enflame", "gcu", 8, "exclusive", None),
        ({"enflame.com/shared-gcu": "48", "enflame.com/gcu-count": "8"}, "enflame", "gcu", 8, "gcushare", None),
        ({"kunlunxin.com/vxpu": "16", "kunlunxin.com/vxpu-memory": "99"}, "kunlunxin", "xpu", None, "hami", None),
        ({"birentech.com/gpu": "8"}, "biren", "gpu", 8, "exclusive", None),
        ({"birentech.com/1-4-gpu": "8"}, "biren", "gpu", None, "svi", None),
        ({"vastaitech.com/va": "4"}, "vastai", "gpu", 4, "exclusive", None),
        ({"alibabacloud.com/ppu": "16"}, "t-head", "ppu", 16, "exclusive", None),
        ({"gpu.intel.com/xe": "1", "gpu.intel.com/xe_monitoring": "1"}, "intel", "gpu", None, "exclusive", None),
        ({"habana.ai/gaudi": "8"}, "intel", "hpu", 8, "exclusive", None),
        ({"aws.amazon.com/neuroncore": "32"}, "aws", "npu", None, "exclusive", None),
        ({"aws.amazon.com/neurondevice": "4", "aws.amazon.com/neuroncore": "16"}, "aws", "npu", 4, "exclusive", None),
        ({"google.com/tpu": "4"}, "google", "tpu", 4, "exclusive", None),
    ],
)
def test_others_are_listed_once_and_called_not_verified(
    capacity: dict[str, str], vendor: str, kind: str, physical: int | None, sharing: str, model: str | None
) -> None:
    group = group_of(capacity)
    assert (group.vendor, group.kind, group.physical_total, group.sharing, group.model) == (
        vendor, kind, physical, sharing, model,
    )  # fmt: skip
    assert (group.slots_total, group.health.value, group.verified) == (
        int(next(iter(capacity.values()))),
        "healthy",
        False,
    )


def test_the_clouds_machine_types_name_their_chips() -> None:
    inf1 = {"node.kubernetes.io/instance-type": "inf1.6xlarge"}
    tpu = {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"}
    assert group_of({"aws.amazon.com/neuron": "4"}, labels=inf1).model == "Inferentia (inf1.6xlarge)"
    assert group_of({"google.com/tpu": "4"}, labels=tpu).model == "tpu-v5-lite-podslice"
    assert read_node(a_node(labels=inf1)).devices == ()


def test_koordinators_units_belong_to_the_card_they_measure() -> None:
    capacity = {"nvidia.com/gpu": "8", "koordinator.sh/gpu-core": "800", "koordinator.sh/gpu-memory": "640Gi"}
    reading = read_node(a_node(capacity))
    assert only(reading).physical_total == 8
    assert [(one.belongs_to, one.total) for one in reading.companions] == [
        ("nvidia.com/gpu", 800),
        ("nvidia.com/gpu", 640 * GIB),
    ]
    alone = read_node(a_node({"koordinator.sh/gpu-core": "800"}))
    assert alone.devices == () and alone.companions[0].belongs_to is None


def test_an_unknown_accelerator_is_listed_with_its_raw_name() -> None:
    reading = read_node(a_node({"newchip.example/npu": "8", "other.example/lamp": "3", "old.example/gpu": "0"}))
    assert [(one.resource, one.total, names(one.reasons)) for one in reading.unrecognised] == [
        ("newchip.example/npu", 8, {"NotInCatalogue"})
    ]
    assert (reading.devices, reading.ignored) == ((), ("old.example/gpu", "other.example/lamp"))


def test_companions_in_bytes_do_not_become_counts() -> None:
    reading = read_node(a_node({"nvidia.com/gpu": "1", "nvidia.com/gpumem": "80Gi"}))
    assert reading.companions[0].total == 80 * GIB


def test_iluvatars_percents_and_quarter_gibibytes_make_cards() -> None:
    capacity = {"iluvatar.ai/BI-V150-vgpu": "40", "iluvatar.ai/BI-V150.vCore": "400", "iluvatar.ai/BI-V150.vMem": "512"}
    group = group_of(capacity)
    assert told(group) == ("BI-V150", 32 * GIB, 4, 40, 40, "hami", "healthy")
    assert "MemoryInferred" in names(group.reasons)


def test_slices_of_one_size_without_the_labels_product() -> None:
    labels = {"nvidia.com/gpu.slices.gi": "1", "nvidia.com/gpu.count": "7", "nvidia.com/mig.strategy": "single"}
    group = group_of({"nvidia.com/gpu": "7"}, labels=labels)
    assert (group.sharing, group.profile, group.physical_total) == ("mig-single", "1g", None)


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "amd.com/gpu", "huawei.com/Ascend910B4", "metax-tech.com/gpu"])
def test_more_than_a_machine_holds_are_not_called_cards(resource: str) -> None:
    group = group_of({resource: "32"})
    assert (group.sharing, group.physical_total, group.slots_total) == ("shared-suspected", None, 32)
    assert names(group.reasons) == {"CountAbovePlausible"}
