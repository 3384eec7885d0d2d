"""A kubeconfig gives its safe fields or a refusal with a reason, and touches nothing outside of itself."""

import builtins
import io
import json
import os
import socket
import subprocess
from ipaddress import ip_network

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from portal.lib.text import BadInput
from resources.drivers.kubernetes.kubeconfig import LONGEST, Kubeconfig, read_kubeconfig
from tests.data import hostile
from tests.unit.drivers.kubernetes_pki import SERVER, TOKEN, b64, config, issued

LOOPBACK = (ip_network("127.0.0.0/8"),)


def reason(text, *args) -> str:
    with pytest.raises(BadInput) as refused:
        read_kubeconfig(text if isinstance(text, str) else json.dumps(text), *args)
    # Every refusal can be said, and none repeats the token.
    assert TOKEN not in str(refused.value)
    return refused.value.reason


@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump, lambda c: yaml.safe_dump(c, default_flow_style=True)])
def test_the_safe_fields_of_the_only_context_are_taken(write):
    found = read_kubeconfig(write(config(context={"namespace": "theirs"})))
    assert (found.context, found.server, found.credential.token) == ("ctx", SERVER, TOKEN)
    assert found.authority_pem == issued()[0]
    assert TOKEN not in repr(found)


def test_a_client_certificate_is_taken_with_its_key():
    certificate, key = issued("client")
    user = {"client-certificate-data": b64(certificate), "client-key-data": b64(key)}
    found = read_kubeconfig(json.dumps(config(user=user)))
    assert (found.credential.certificate_pem, found.credential.key_pem) == (certificate, key)
    assert "PRIVATE" not in repr(found)


def test_a_key_of_another_certificate_is_refused():
    user = {"client-certificate-data": b64(issued("client")[0]), "client-key-data": b64(issued("other")[1])}
    assert reason(config(user=user)) == "OtherKey"
    assert reason(config(user={**user, "client-key-data": b64("no key")})) == "BadKey"


def test_of_several_contexts_one_is_chosen_and_the_others_do_not_matter():
    several = config()
    several["users"].append({"name": "v", "user": {"exec": {"command": "sh"}}})
    several["contexts"].append({"name": "second", "context": {"cluster": "c", "user": "v"}})
    assert reason(several) == "SeveralContexts"
    assert reason(several, "third") == "NoSuchContext"
    assert reason(several, "second") == "ExecRefused"
    assert read_kubeconfig(json.dumps(several), "ctx").credential.token == TOKEN


USERS = [
    ({"exec": {"command": "sh", "args": ["-c", "touch /tmp/x"]}}, "ExecRefused"),
    ({"Exec": {"command": "sh"}}, "ExecRefused"),
    ({"token": TOKEN, "exec": {"command": "sh"}}, "ExecRefused"),
    ({"auth-provider": {"name": "gcp", "config": {"cmd-path": "/bin/sh"}}}, "AuthProviderRefused"),
    ({"auth-provider": {"name": "oidc", "config": {"id-token": "x"}}}, "AuthProviderRefused"),
    ({"tokenFile": "/etc/passwd"}, "TokenFileRefused"),
    ({"token": TOKEN, "tokenFile": "/etc/passwd"}, "TokenFileRefused"),
    ({"tokenfile": "/etc/passwd"}, "TokenFileRefused"),
    ({"client-certificate": "/a", "client-key": "/b"}, "FilePathRefused"),
    ({"client-key": "/b", "token": TOKEN}, "FilePathRefused"),
    ({"username": "admin", "password": "admin"}, "PasswordRefused"),
    ({"token": TOKEN, "as": "system:admin"}, "ImpersonationRefused"),
    ({"token": TOKEN, "as-groups": ["system:masters"]}, "ImpersonationRefused"),
    ({"token": TOKEN, "as-user-extra": {"a": ["b"]}}, "ImpersonationRefused"),
    ({"token": TOKEN, "something-new": "x"}, "UnknownField"),
    ({"token": TOKEN, "client-certificate-data": b64(issued()[0])}, "TwoCredentials"),
    ({}, "NoCredential"),
    ({"token": ""}, "NoCredential"),
    ({"token": "short"}, "BadToken"),
    ({"token": "with a space in the middle"}, "BadToken"),
    ({"token": "x" * 9_000}, "BadToken"),
    ({"token": ["a"]}, "NotAText"),
]
CLUSTERS = [
    ({"proxy-url": "http://10.0.0.1:3128"}, "ProxyRefused"),
    ({"insecure-skip-tls-verify": True}, "TlsCheckOff"),
    ({"insecure-skip-tls-verify": "yes"}, "TlsCheckOff"),
    ({"certificate-authority": "/etc/passwd"}, "FilePathRefused"),
    ({"certificate-authority-data": "?"}, "NotBase64"),
    ({"certificate-authority-data": b64("no certificate")}, "NoCertificate"),
    ({"certificate-authority-data": b64("".join(issued()))}, "KeyInAuthority"),
    ({"tls-server-name": "a b"}, "BadHost"),
    ({"server": ""}, "NoServer"),
    ({"server": ["https://10.1.2.3"]}, "NotAText"),
    ({"unheard-of": "x"}, "UnknownField"),
]
SERVERS = [
    ("http://10.1.2.3:8080", "NotHttps"),
    ("10.1.2.3:6443", "NotHttps"),
    ("file:///etc/passwd", "NotHttps"),
    ("https://user:pass@10.1.2.3", "UserInServer"),
    ("https://10.1.2.3@evil.example", "UserInServer"),
    ("https://10.1.2.3/k8s/clusters/c-1", "PathInServer"),
    ("https://10.1.2.3?x=1", "PathInServer"),
    ("https://10.1.2.3#x", "PathInServer"),
    ("https://10.1.2.3?", "PathInServer"),
    ("https://10.1.2.3:99999", "BadPort"),
    ("https://10.1.2.3:0", "BadPort"),
    ("https://10.1.2.3:", "BadPort"),
    ("https://10.1.2.3:6443x", "BadPort"),
    ("https://", "BadHost"),
    ("https://[::1", "BadHost"),
    ("https://ex ample.org", "BadHost"),
    ("https://例子.org", "BadHost"),
    ("https://a\\b.org", "BadHost"),
    ("https://-a.org", "BadHost"),
    ("https://169.254.169.254", "LinkLocalAddress"),
    ("https://[fd00:ec2::254]", "MetadataAddress"),
    ("https://[::ffff:169.254.169.254]", "LinkLocalAddress"),
    ("https://127.0.0.1:6443", "LoopbackAddress"),
    ("https://localhost:6443", "LoopbackAddress"),
    ("https://api.localhost", "LoopbackAddress"),
    ("https://[::1]", "LoopbackAddress"),
    ("https://2130706433", "NotAnAddress"),
    ("https://0x7f.1", "NotAnAddress"),
    ("https://0.0.0.0", "UnspecifiedAddress"),
]


@pytest.mark.parametrize(("user", "wanted"), USERS)
def test_a_user_that_needs_more_than_its_text_is_refused(user, wanted):
    assert reason(config(user=user)) == wanted


@pytest.mark.parametrize(("cluster", "wanted"), CLUSTERS)
def test_a_cluster_that_needs_more_than_its_text_is_refused(cluster, wanted):
    assert reason(config(cluster=cluster)) == wanted


@pytest.mark.parametrize(("server", "wanted"), SERVERS)
def test_an_address_no_cluster_has_is_refused(server, wanted):
    assert reason(config(cluster={"server": server})) == wanted


def test_empty_and_harmless_fields_do_no_harm():
    user = {"token": TOKEN, "username": "", "exec": None, "as-groups": []}
    cluster = {"insecure-skip-tls-verify": False, "proxy-url": "", "extensions": [{"name": "x", "extension": {}}]}
    text = yaml.safe_dump(config(user=user, cluster=cluster))
    assert read_kubeconfig(text).credential.token == TOKEN


def test_loopback_is_reached_where_its_network_is_listed():
    text = json.dumps(config(cluster={"server": "https://127.0.0.1:6443/"}))
    assert read_kubeconfig(text, "", LOOPBACK).server == "https://127.0.0.1:6443"


BOMB = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n"
TEXTS = [
    ("", "NotText"),
    ("  \n", "NotText"),
    ("\x00\x01", "NotText"),
    ("a\ud800", "NotText"),
    ("a: [", "NotYaml"),
    ("a: b: c", "NotYaml"),
    ("\t- x", "NotYaml"),
    ("just words", "NotKubeconfig"),
    ("- 1\n- 2", "NotKubeconfig"),
    ("{}", "NotKubeconfig"),
    ("a: 1\n---\nb: 2", "NotKubeconfig"),
    ("[a, b]: c", "NotKubeconfig"),
    (BOMB, "YamlReference"),
    ("a: &x 1", "YamlReference"),
    ("a: *x", "YamlReference"),
    ("a: !!python/object/apply:os.system ['true']", "YamlReference"),
    ("a: !!binary aGVsbG8=", "YamlReference"),
    ("a: 1\na: 2", "RepeatedName"),
    ("[" * 100, "TooDeep"),
    ("? " * 50, "NotKubeconfig"),
    ("a: [" + "x," * 5_000 + "x]", "TooDeep"),
    ("x" * (LONGEST + 1), "KubeconfigTooLong"),
    (json.dumps(config(clusters=[])), "NotKubeconfig"),
    (json.dumps(config(clusters="c")), "NotKubeconfig"),
    (json.dumps(config(users=[{"name": "u"}])), "NotKubeconfig"),
    (json.dumps(config(contexts=[])), "NotKubeconfig"),
    (json.dumps(config(contexts=[{"name": "x", "context": {"cluster": "c", "user": "nobody"}}])), "NotKubeconfig"),
    (json.dumps(config(users=[{"name": "u", "user": {}}, {"name": "u", "user": {}}])), "NotKubeconfig"),
]


@pytest.mark.parametrize(("text", "wanted"), TEXTS)
def test_what_is_no_kubeconfig_is_refused_at_once(text, wanted):
    with hostile.told(hostile.Hostile(text[:60], wanted)):
        assert reason(text) == wanted


def test_large_texts_are_read_or_refused_at_once():
    for text in ("a: " + "x" * (LONGEST - 10), "a: '" + "\\n" * (LONGEST // 2 - 10), '{"a":' * 20_000, "- " * 60_000):
        with hostile.told(hostile.Hostile(text[:60], "large")):
            reason(text)


def test_nothing_is_started_opened_or_looked_up(monkeypatch):
    def never(*_args, **_options):
        raise AssertionError("reached the outside")

    for module, names in (
        (builtins, ("open",)),
        (io, ("open",)),
        (os, ("open", "system", "popen", "execv", "execve", "posix_spawn", "fork")),
        (subprocess, ("Popen", "run")),
        (socket, ("socket", "getaddrinfo", "gethostbyname", "create_connection")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, never)
    reasons = [reason(config(user=user)) for user, _wanted in USERS]
    reasons += [reason(config(cluster=cluster)) for cluster, _wanted in CLUSTERS]
    reasons += [reason(config(cluster={"server": server})) for server, _wanted in SERVERS]
    found = read_kubeconfig(json.dumps(config(cluster={"server": "https://api.example.org"})))
    assert found.server == "https://api.example.org" and "ExecRefused" in reasons


PIECES = st.sampled_from(
    ["clusters", "users", "contexts", "name", "cluster", "user", "server", "token", "exec", ":", " ", "\n", "- ", "{",
     "}", "[", "]", ",", '"', "&a", "*a", "!!", "|", ">", "?", "<<", "https://", "%YAML 1.2\n", "---", "...", "#",
     "null", "\t"]
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda v: st.lists(v, max_size=3), max_leaves=5
)


def takes_or_refuses(text: str) -> None:
    try:
        found = read_kubeconfig(text)
    except BadInput as refused:
        assert refused.reason and str(refused)
    else:
        assert isinstance(found, Kubeconfig) and found.server.startswith("https://")


@given(st.text(max_size=300) | st.lists(PIECES, max_size=40).map("".join))
@example("a: 2001-99-99")
@example("a: 1" + ":1" * 50)
@example("\ufeffa: 1")
@example("a: \x85")
def test_any_text_is_taken_or_refused(text):
    takes_or_refuses(text)


@given(
    st.dictionaries(st.sampled_from(["server", "certificate-authority-data", "tls-server-name", "x"]), VALUES),
    st.dictionaries(st.sampled_from(["token", "exec", "client-key-data", "client-certificate-data", "x"]), VALUES),
    st.dictionaries(st.sampled_from(["cluster", "user", "namespace", "x"]), VALUES),
)
def test_any_fields_are_taken_or_refused(cluster, user, context):
    takes_or_refuses(yaml.safe_dump(config(cluster=cluster, user=user, context=context)))
