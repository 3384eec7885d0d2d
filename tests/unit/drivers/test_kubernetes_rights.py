"""One table makes the manifests and the review: what is asked is what is granted, and no role grants too much."""

from datetime import UTC, datetime

import pytest
import yaml

from portal.lib.text import BadInput
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.api import Refused
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.given import (
    ends_at,
    fingerprint,
    read_authority,
    read_client_certificate,
    read_namespace,
    read_token,
)
from resources.drivers.kubernetes.manifests import manifest, objects
from resources.drivers.kubernetes.review import asker
from resources.drivers.kubernetes.rights import (
    FEATURE_WORDS,
    Feature,
    ask_all,
    beyond,
    features_of,
    features_off,
    lines,
    needs,
    too_much,
)
from tests.unit.drivers.kubernetes_pki import ENDS, TOKEN, issued, jwt


def granted(right: Right, namespace: str = "ns") -> set[tuple[str, str, str, str, str]]:
    """(verb, group, resource, namespace, name) that the manifest grants."""
    found = [one for one in yaml.safe_load_all(manifest(right, namespace)) if one]
    roles = {one["metadata"]["name"]: one["rules"] for one in found if one["kind"] == "ClusterRole"}
    return {
        (verb, group, resource, binding["metadata"].get("namespace", ""), name)
        for binding in found
        if binding["kind"] in ("RoleBinding", "ClusterRoleBinding")
        for rule in roles[binding["roleRef"]["name"]]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    }


@pytest.mark.parametrize("right", Right)
def test_what_is_asked_is_exactly_what_the_manifest_grants(right):
    asked = {(one.verb, one.group, one.resource, one.namespace, one.name) for one in needs(right, "ns")}
    assert asked == granted(right)


@pytest.mark.parametrize("right", Right)
def test_t06_no_role_reads_secrets_runs_commands_or_takes_everything(right):
    rows = granted(right)
    assert not any("*" in row for row in rows)
    assert {verb for verb, _g, resource, *_ in rows if resource == "secrets"} <= {"create", "delete"}
    forbidden = {"pods/exec", "pods/attach", "pods/portforward", "pods/ephemeralcontainers", "statefulsets",
                 "serviceaccounts/token", "clusterrolebindings", "daemonsets"}  # fmt: skip
    assert not forbidden & {resource for _v, _g, resource, *_ in rows}
    assert not {"impersonate", "escalate", "deletecollection"} & {verb for verb, *_ in rows}
    writes_nodes = {verb for verb, _g, resource, *_ in rows if resource == "nodes"} - {"get", "list", "watch"}
    assert writes_nodes == ({"patch"} if right == Right.STEWARD else set())


def test_the_observer_only_reads_and_the_runner_stays_in_its_namespace():
    assert {verb for verb, *_ in granted(Right.OBSERVER)} == {"get", "list", "watch"}
    assert {namespace for *_, namespace, _name in granted(Right.RUNNER, "jobs-here")} == {"jobs-here"}
    bound = {(verb, name) for verb, _g, resource, _n, name in granted(Right.STEWARD) if resource == "clusterroles"}
    assert bound == {("bind", "armillary-runner"), ("bind", "armillary-device-plugins")}


def test_service_accounts_do_not_live_among_jobs():
    for right in Right:
        accounts = [one for one in objects(right) if one["kind"] == "ServiceAccount"]
        assert [one["metadata"]["namespace"] for one in accounts] == ["armillary-system"]
    for name in ("armillary-system", "kube-system", "Jobs", "a/b", "x" * 64):
        with pytest.raises(BadInput):
            read_namespace(name, "armillary-jobs")
    assert read_namespace(" ", "armillary-jobs") == "armillary-jobs"


def test_every_feature_has_its_words_and_a_right():
    assert set(FEATURE_WORDS) == set(Feature) == {feature for right in Right for feature in features_of(right)}


def test_a_missing_verb_turns_exactly_its_feature_off():
    answers = {one.key: True for one in needs(Right.RUNNER, "ns")}
    assert features_off(Right.RUNNER, "ns", answers) == []
    answers["get /pods/log ns"] = False
    assert features_off(Right.RUNNER, "ns", answers) == [Feature.LOGS]
    (line,) = [line for line in lines(Right.RUNNER, "ns", answers) if line.feature == Feature.LOGS]
    assert (line.standing, line.verbs) == ("missing", (("get", "missing"),))
    assert features_off(Right.RUNNER, "ns", None) == features_of(Right.RUNNER)


def test_what_was_not_asked_is_neither_granted_nor_missing():
    assert {line.standing for line in lines(Right.OBSERVER, "ns", {})} == {"not_asked"}
    assert features_off(Right.OBSERVER, "ns", {}) == []


def test_either_kind_of_gang_is_enough():
    answers = {one.key: one.group != "scheduling.x-k8s.io" for one in needs(Right.RUNNER, "ns")}
    assert Feature.GANGS not in features_off(Right.RUNNER, "ns", answers)
    answers |= {key: False for key in answers if "podgroups" in key}
    assert Feature.GANGS in features_off(Right.RUNNER, "ns", answers)


def test_too_much_is_said_once():
    answers = dict.fromkeys((one.key for one in beyond("ns")), False)
    assert too_much("ns", answers) == []
    answers["list /secrets ns"] = True
    assert [(one.verb, one.resource, one.namespace) for one in too_much("ns", answers)] == [("list", "secrets", "ns")]
    answers["list /secrets"] = True
    assert [(one.verb, one.resource, one.namespace) for one in too_much("ns", answers)] == [("list", "secrets", "")]
    answers["* */*"] = True
    assert [one.verb for one in too_much("ns", answers)] == ["*"]


class Server:
    """Answers SelfSubjectAccessReviews from a set of attributes, as the API would."""

    def __init__(self, allowed=(), status=None, error=None):
        self.allowed, self.status, self.error, self.asked = allowed, status, error, []

    def create(self, path, body, *, right, **_query):
        assert path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        attributes = body["spec"]["resourceAttributes"]
        self.asked.append((right, attributes))
        if self.error:
            raise self.error
        return {"kind": body["kind"], "status": self.status or {"allowed": attributes in self.allowed}}


def test_the_review_asks_with_resource_and_subresource_apart():
    log = {"verb": "get", "resource": "pods", "subresource": "log", "namespace": "ns"}
    server = Server(allowed=[log])
    answers = ask_all(Right.RUNNER, "ns", asker(server))
    assert [key for key, said in answers.items() if said] == ["get /pods/log ns"]
    assert (Right.RUNNER, {"verb": "get", "resource": "secrets"}) in server.asked


def test_no_answer_is_no_verdict():
    ask = asker(Server(error=Refused(403, "Forbidden", "no")))
    assert ask(Right.RUNNER, {}) is None
    assert asker(Server(status={"allowed": False, "evaluationError": "webhook"}))(Right.RUNNER, {}) is None
    assert asker(Server(status={"allowed": "yes"}))(Right.RUNNER, {}) is None
    assert asker(Server(status={"allowed": True, "evaluationError": "webhook"}))(Right.RUNNER, {}) is True
    with pytest.raises(DriverUnavailable):
        asker(Server(error=DriverUnavailable("away", reason="Unreachable")))(Right.RUNNER, {})


def test_a_credential_tells_its_end_and_its_fingerprint_and_not_itself():
    token = jwt(exp=1_800_000_000, sub="system:serviceaccount:armillary-system:armillary-observer")
    credential = read_token(token)
    assert ends_at(credential) == datetime.fromtimestamp(1_800_000_000, UTC)
    assert ends_at(read_token(TOKEN)) is None
    assert len(fingerprint(credential)) == 16 and fingerprint(credential) not in token
    certificate = read_client_certificate(*issued("client"))
    assert ends_at(certificate) == ENDS
    shown = repr([credential, certificate, Connection("https://x", "", {Right.RUNNER: credential})])
    assert token not in shown and "PRIVATE" not in shown


@pytest.mark.parametrize("claims", [{"exp": "soon"}, {"exp": 10**30}, {"exp": True}, {}, {"exp": None}])
def test_a_token_that_tells_no_end_has_none(claims):
    assert ends_at(Credential(token=jwt(**claims))) is None


@pytest.mark.parametrize("token", ["a.b.c", "a.!!!.c", "..", "a.W10.c", "a.MQ.c"])
def test_a_token_of_three_parts_is_not_always_one_of_json(token):
    assert ends_at(Credential(token=token)) is None


def test_an_authority_is_certificates_and_nothing_else():
    one, other = issued("one")[0], issued("other")[0]
    assert read_authority(f"\n{one}\n{other}  ") == one + other
    for bad in ("", "words", one + "words", one.replace("A", "!", 1), one * 30, "x" * 70_000, "".join(issued())):
        with pytest.raises(BadInput):
            read_authority(bad)
