"""Given nodes as their cluster describes them, what the inventory says; numbers are those of the scenario list."""

import pytest

from resources.normalize import read_node
from resources.quantities import MEMORY_MAX_BYTES, BadQuantity, parse_memory
from tests.unit.normalize.nodes import READY, a_node, names, only

GIB = 1 << 30
T4 = {"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.count": "1"}
RTX_3090 = {"nvidia.com/gpu.product": "NVIDIA-GeForce-RTX-3090", "nvidia.com/gpu.count": "1"}


class TestInventory:
    def test_the_same_model_on_two_nodes_is_two_cards_at_most_one_a_node(self) -> None:
        """C25: 2 nodes with one 3090 each."""
        groups = [only(read_node(a_node({"nvidia.com/gpu": "1"}, labels=RTX_3090))) for _ in ("a", "b")]
        assert len({group.model for group in groups}) == 1
        per_node = [group.slots_schedulable or 0 for group in groups]
        assert (sum(per_node), max(per_node)) == (2, 1)

    def test_a_labelled_card_without_driver_is_listed_as_not_usable(self) -> None:
        """C28: labelled T4, no resource."""
        group = only(read_node(a_node(labels=T4)))
        assert (group.model, group.slots_schedulable, group.health.value) == ("Tesla T4", 0, "unhealthy")
        assert names(group.reasons) == {"LabelledNotAdvertised"}


class TestQuantities:
    def test_a_withdrawn_card_among_held_ones_leaves_nothing_free(self) -> None:
        """C22: total 8, held 8, one withdrawn: free is 0, and flagged."""
        node = a_node({"nvidia.com/gpu": "8"}, {"nvidia.com/gpu": "7"})
        group = only(read_node(node, requested={"nvidia.com/gpu": "8"}))
        assert (group.slots_free, group.health.value) == (0, "degraded")
        assert {"OverAllocated", "DevicesWithdrawn"} == names(group.reasons)

    def test_more_held_than_there_is_while_a_node_restarts(self) -> None:
        """C23: free is 0 and over-allocated; what was advertised is kept."""
        node = a_node({"nvidia.com/gpu": "0"}, labels=T4, conditions=(READY,))
        group = only(read_node(node, requested={"nvidia.com/gpu": "4"}))
        assert (group.slots_total, group.slots_requested, group.slots_free) == (0, 4, 0)
        assert "OverAllocated" in names(group.reasons)

    @pytest.mark.parametrize(
        ("text", "amount"), [("0.5Gi", GIB // 2), ("1.5Ti", 1536 * GIB), ("2.85Gi", 3_060_164_199)]
    )
    def test_parts_of_units_are_exact_bytes(self, text: str, amount: int) -> None:
        """C65: as typed, and as the API writes it back."""
        assert parse_memory(text) == amount
        host = read_node(a_node({"memory": text})).host
        assert host is not None and host.memory_bytes_capacity == amount

    def test_what_the_api_makes_of_a_part_of_a_byte_reads_back_the_same(self) -> None:
        """C65: 2.85Gi comes back as 3060164198400m."""
        host = read_node(a_node({"memory": "3060164198400m"})).host
        assert host is not None and host.memory_bytes_capacity == parse_memory("2.85Gi")

    def test_a_pebibyte_is_exact_for_a_quota_and_too_much_for_a_job(self) -> None:
        """C65."""
        assert parse_memory("1Pi", maximum=1 << 60) == 1 << 50
        with pytest.raises(BadQuantity) as refused:
            parse_memory("1Pi")
        assert refused.value.reason == "QuantityTooLarge" and MEMORY_MAX_BYTES < 1 << 50

    def test_memory_in_thousandths_of_a_byte_is_refused_when_typed(self) -> None:
        """C66: 256m is no memory anybody means."""
        with pytest.raises(BadQuantity) as refused:
            parse_memory("256m")
        assert refused.value.reason == "UnitNotAllowed" and "Mi" in str(refused.value)
