"""Who may tell a fake pod what to do, and in which order."""

import pytest

from controlplane.kubelet.script import script_of


def thing(name="p", policy="Never", **annotations):
    """A pod, namespace or node with these annotations."""
    told = {f"fake-kubelet/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"metadata": {"name": name, "annotations": told}, "spec": {"restartPolicy": policy}}


def test_by_default_a_pod_runs_a_moment_and_one_that_is_always_restarted_for_ever():
    assert script_of(thing(), thing(), thing()).duration == 2.0
    assert script_of(thing(policy="Always"), thing(), thing()).duration == float("inf")


def test_a_pods_own_script_is_whole():
    script = script_of(thing(duration="3"), thing(exit_code="1"), thing(exit_code="2"))
    assert (script.duration, script.exit_code) == (3.0, 0)


def test_a_namespace_overrules_the_node_and_a_pattern_the_namespace():
    namespace = thing(exit_code="1", scripts='{"train-*": {"exit-code": "7"}}')
    node = thing(exit_code="2", duration="9", managed="true", frozen="true")
    assert script_of(thing("other"), namespace, node).exit_code == 1
    script = script_of(thing("train-x"), namespace, node)
    assert (script.exit_code, script.duration) == (7, 9.0)


@pytest.mark.parametrize(("annotations", "word"), [({"durration": "1"}, "durration"), ({"duration": "soon"}, "soon")])
def test_what_is_not_understood_is_refused_with_the_word(annotations, word):
    with pytest.raises(ValueError, match=word):
        script_of(thing(**annotations), thing(), thing())


def test_a_pod_that_ran_out_of_memory_ends_with_137():
    assert script_of(thing(reason="OOMKilled"), thing(), thing()).ending == (137, "OOMKilled")
    assert script_of(thing(exit_code="4"), thing(), thing()).ending == (4, "Error")
