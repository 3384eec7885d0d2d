"""What labels say of a node's network."""

from resources.drivers.facts import NetworkFact
from resources.drivers.kubernetes.network import network_of, topology_of


def test_the_place_is_outermost_first_whatever_the_order_of_the_labels() -> None:
    labels = {
        "network.topology.nvidia.com/leaf": "leaf-7",
        "topology.kubernetes.io/zone": "z1",
        "network.topology.nvidia.com/spine": "spine-2",
        "topology.kubernetes.io/region": "north",
        "unrelated": "x",
    }
    assert topology_of(network_of(labels)) == ("north", "z1", "spine-2", "leaf-7")


def test_every_fact_is_declared_and_names_its_label() -> None:
    found = network_of({"armillary/network-bandwidth": "400 Gbit/s", "armillary/rack": "r1"})
    assert found == (
        NetworkFact("rack", "r1", "armillary/rack", measured=False),
        NetworkFact("bandwidth", "400 Gbit/s", "armillary/network-bandwidth", measured=False),
    )


def test_of_two_labels_for_one_fact_the_first_in_the_table_counts() -> None:
    feature = "feature.node.kubernetes.io/rdma."
    both = network_of({f"{feature}capable": "true", f"{feature}available": "true"})
    assert [(fact.name, fact.value) for fact in both] == [("rdma", "available")]
    assert [fact.value for fact in network_of({"armillary/rdma": "RoCE", f"{feature}capable": "true"})] == ["RoCE"]


def test_a_label_that_says_no_or_nothing_is_no_fact() -> None:
    labels = {"feature.node.kubernetes.io/rdma.capable": "false", "topology.kubernetes.io/zone": ""}
    assert network_of(labels) == ()
