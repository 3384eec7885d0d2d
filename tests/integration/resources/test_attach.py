"""A Kubernetes cluster is attached by its safe fields only, and its secrets are sealed and never shown again."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.db import connection

from portal.lib.errors import Conflict, Denied, Invalid
from resources.attaching import ConnectionGiven, CredentialGiven
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.models import Cluster, ClusterCredential
from resources.selectors.connections import access_card, connection_of, connection_version
from resources.services.remove_credential import remove_credential
from resources.services.reseal_credentials import reseal_credentials
from resources.services.review_permissions import review_permissions
from resources.services.rotate_credential import rotate_credential
from resources.services.set_cluster_state import set_cluster_state
from resources.vault import KEY_FILE, CannotOpen, seal, unseal
from tenants.models import AuditEvent
from tests.builders import NOW
from tests.integration.resources.attached import CANARY, GIVEN, attach, shipped
from tests.unit.drivers.kubernetes_pki import SERVER, TOKEN, config, issued


@pytest.fixture(autouse=True)
def own_state(settings, tmp_path):
    settings.STATE_DIR = tmp_path
    return tmp_path


def refused(given: ConnectionGiven, actor=None) -> dict[str, str]:
    with pytest.raises(Invalid) as error:
        attach(actor, given)
    return {field.field: field.reason for field in error.value.fields}


# --- vault --------------------------------------------------------------------------------------------


def test_the_key_is_made_once_outside_the_database_and_private(own_state):
    sealed = seal("secret", about="x")
    file = own_state / KEY_FILE
    key = file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600 and unseal(sealed, about="x") == "secret"
    seal("again", about="x")
    assert file.read_text() == key and [path.name for path in own_state.iterdir()] == [KEY_FILE]


def test_a_sealed_text_opens_only_as_what_it_is_and_with_its_key(settings, own_state):
    sealed = seal("secret", about="x")
    for text, about in ((sealed, "y"), (sealed[:-4], "x"), ("", "x"), ("é", "x")):
        with pytest.raises(CannotOpen):
            unseal(text, about=about)
    settings.STATE_DIR = own_state / "elsewhere"
    with pytest.raises(CannotOpen):
        unseal(sealed, about="x")
    assert not Path(settings.STATE_DIR).exists()


def test_keys_are_rotated_without_losing_a_credential(cast, settings):
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    settings.VAULT_KEYS = (old,)
    cluster = attach()
    settings.VAULT_KEYS = (new, old)
    assert connection_of(cluster).credentials[Right.OBSERVER].token == CANARY
    assert reseal_credentials(now=NOW) == 2
    settings.VAULT_KEYS = (new,)
    assert connection_of(cluster).credentials[Right.OBSERVER].token == CANARY
    settings.VAULT_KEYS = (Fernet.generate_key().decode(),)
    with pytest.raises(DriverUnavailable) as error:
        connection_of(cluster)
    assert error.value.reason == "VaultKeyMissing"
    with pytest.raises(CannotOpen):
        reseal_credentials(now=NOW)


def test_a_credential_moved_to_another_row_does_not_open(cast):
    east, west = attach(), attach(key="west")
    stolen = ClusterCredential.objects.get(cluster=east, right="runner").ciphertext
    ClusterCredential.objects.filter(cluster=west, right="observer").update(ciphertext=stolen)
    with pytest.raises(DriverUnavailable):
        connection_of(west)


# --- services -----------------------------------------------------------------------------------------


def test_an_attached_cluster_is_reached_by_what_was_given(cast):
    cluster = attach(cast.platform_admin)
    found = connection_of(cluster)
    assert found == Connection(
        server=SERVER,
        authority_pem=issued()[0],
        credentials={Right.OBSERVER: Credential(token=CANARY), Right.RUNNER: Credential(token=f"{CANARY}-runner")},
    )
    assert CANARY not in repr(found) and (cluster.driver, cluster.state) == ("kubernetes", "attached")
    event = AuditEvent.objects.get(verb="cluster.attached", target_id=str(cluster.pk))
    assert (event.note, event.after["server"]) == ("A new hall.", SERVER)
    row = ClusterCredential.objects.get(cluster=cluster, right="observer")
    assert event.after["observer_credential"] == row.fingerprint and row.created_by == cast.platform_admin


def test_a_kubeconfig_gives_the_same_and_says_whose_credential_it_holds(cast):
    text = json.dumps(config())
    cluster = attach(given=ConnectionGiven(kubeconfig=text, right=Right.RUNNER, tokens={Right.OBSERVER: CANARY}))
    found = connection_of(cluster)
    assert (found.server, found.authority_pem) == (SERVER, issued()[0])
    assert found.credentials == {Right.RUNNER: Credential(token=TOKEN), Right.OBSERVER: Credential(token=CANARY)}


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_stored(cast):
    bad = ConnectionGiven(server="http://x", authority="x", tokens={Right.OBSERVER: "x"}, namespace="kube-system")
    assert refused(bad) == {
        "server": "NotHttps",
        "authority": "NoCertificate",
        "observer_token": "BadToken",
        "namespace": "ReservedNamespace",
    }
    both = ConnectionGiven(kubeconfig=json.dumps(config()), server=SERVER, tokens={Right.OBSERVER: CANARY})
    assert refused(both) == {"server": "TwoWays", "observer_token": "TwoCredentials"}
    assert refused(replace(GIVEN, tokens={Right.RUNNER: CANARY})) == {"observer_token": "ObserverMissing"}
    assert refused(ConnectionGiven()) == {"server": "NoServer"}
    attach()
    assert refused(GIVEN) == {"key": "Taken"}
    assert Cluster.objects.filter(driver="kubernetes").count() == 1


@pytest.mark.parametrize(
    ("user", "cluster", "reason"),
    [
        ({"exec": {"command": "sh"}}, {}, "ExecRefused"),
        ({"tokenFile": "/etc/passwd"}, {}, "TokenFileRefused"),
        (None, {"proxy-url": "http://x"}, "ProxyRefused"),
        (None, {"server": "https://169.254.169.254"}, "LinkLocalAddress"),
    ],
)
def test_t01_t02_t03_a_dangerous_kubeconfig_is_refused_and_audited_without_its_text(cast, user, cluster, reason):
    text = json.dumps(config(user=user, cluster=cluster))
    assert refused(ConnectionGiven(kubeconfig=text), cast.platform_admin) == {"kubeconfig": reason}
    event = AuditEvent.objects.get(verb="cluster.refused")
    assert (event.reason, event.result, event.actor_id) == (reason, "denied", cast.platform_admin.pk)
    assert "passwd" not in json.dumps(event.after) and not Cluster.objects.filter(driver="kubernetes").exists()


def test_only_who_manages_clusters_attaches_rotates_removes_and_asks(cast):
    cluster = attach()
    acts = [
        lambda actor: attach(actor, key="west"),
        lambda actor: rotate_credential(
            actor=actor, cluster=cluster, right=Right.RUNNER, given=CredentialGiven(token=TOKEN), now=NOW, note="x"
        ),
        lambda actor: remove_credential(actor=actor, cluster=cluster, right=Right.RUNNER, now=NOW, note="x"),
        lambda actor: review_permissions(actor=actor, cluster=cluster, ask=lambda *_: True, now=NOW),
    ]
    for act in acts:
        for role in ("pool_admin", "auditor", "manager", "member"):
            with pytest.raises(Denied):
                act(cast.person(role))


def test_a_rotation_is_taken_by_drivers_and_leaves_fingerprints_only(cast):
    cluster = attach()
    version, before = connection_version(cluster), ClusterCredential.objects.get(cluster=cluster, right="runner")
    review_permissions(actor=None, cluster=cluster, ask=lambda *_: True, now=NOW)
    given = CredentialGiven(token=TOKEN)
    args = {"actor": cast.platform_admin, "cluster": cluster, "right": Right.RUNNER, "now": NOW, "note": "Due."}
    row = rotate_credential(given=given, **args)
    assert connection_of(cluster).credentials[Right.RUNNER].token == TOKEN
    assert connection_version(cluster) != version and (row.reviewed_at, row.answers) == (None, {})
    event = AuditEvent.objects.get(verb="cluster.credential_rotated")
    assert event.before == {"runner_credential": before.fingerprint}
    assert event.after == {"runner_credential": row.fingerprint}
    version = connection_version(cluster)
    rotate_credential(given=given, **args)
    assert connection_version(cluster) == version
    assert AuditEvent.objects.filter(verb="cluster.credential_rotated").count() == 1


def test_a_client_certificate_is_a_credential_too(cast):
    cluster = attach()
    certificate, key = issued("client")
    given = CredentialGiven(certificate=certificate, key=key)
    row = rotate_credential(actor=None, cluster=cluster, right=Right.STEWARD, given=given, now=NOW, note="")
    assert row.kind == "certificate" and row.expires_at is not None
    assert connection_of(cluster).credentials[Right.STEWARD].key_pem == key
    for bad in (CredentialGiven(), CredentialGiven(token=TOKEN, key=key), CredentialGiven(certificate=certificate)):
        with pytest.raises(Invalid):
            rotate_credential(actor=None, cluster=cluster, right=Right.STEWARD, given=bad, now=NOW, note="")


def test_a_removed_credential_is_gone_and_the_last_one_leaves_no_connection(cast):
    cluster = attach()
    version = connection_version(cluster)
    for right in (Right.RUNNER, Right.OBSERVER, Right.OBSERVER):
        remove_credential(actor=None, cluster=cluster, right=right, now=NOW, note="Gone.")
    assert connection_version(cluster) not in ("", version)
    assert AuditEvent.objects.filter(verb="cluster.credential_removed").count() == 2
    with pytest.raises(DriverUnavailable) as error:
        connection_of(cluster)
    assert error.value.reason == "CredentialMissing"


def test_a_cluster_without_a_network_has_no_credentials(cast):
    assert connection_version(cast.cluster) == "" and access_card(cast.cluster, NOW) is None
    with pytest.raises(DriverUnavailable):
        connection_of(cast.cluster)
    with pytest.raises(Conflict):
        rotate_credential(
            actor=None, cluster=cast.cluster, right=Right.RUNNER, given=CredentialGiven(token=TOKEN), now=NOW, note=""
        )


def test_detaching_keeps_everything(cast):
    cluster = attach()
    set_cluster_state(actor=None, cluster=cluster, state="detached", now=NOW, note="Moved.", jobs_on=lambda _cluster: 0)
    assert ClusterCredential.objects.filter(cluster=cluster).count() == 2
    assert AuditEvent.objects.filter(target_id=str(cluster.pk)).count() == 2


# --- review -------------------------------------------------------------------------------------------


def test_each_permission_is_granted_missing_or_not_asked(cast):
    cluster = attach()
    assert [row.standing for row in access_card(cluster, NOW).rights] == ["not_asked", "not_asked", "absent"]
    review_permissions(actor=None, cluster=cluster, ask=shipped("get /pods/log armillary-jobs"), now=NOW)
    observer, runner, steward = access_card(cluster, NOW).rights
    assert (observer.standing, runner.standing, steward.standing) == ("granted", "missing", "absent")
    assert (observer.off, runner.off, len(steward.off)) == ((), ("logs",), 7)
    assert not access_card(cluster, NOW).too_much and runner.credential.reviewed_at == NOW


def test_a_credential_that_may_do_everything_is_said_to(cast):
    cluster = attach()
    review_permissions(actor=None, cluster=cluster, ask=lambda *_: True, now=NOW)
    card = access_card(cluster, NOW)
    assert card.too_much and [one.verb for one in card.rights[0].too_much] == ["*"]


def test_a_cluster_that_does_not_answer_keeps_what_it_said(cast):
    cluster = attach()
    review_permissions(actor=None, cluster=cluster, ask=shipped(), now=NOW)

    def away(_right, _attributes):
        raise DriverUnavailable("away", reason="Unreachable")

    with pytest.raises(DriverUnavailable):
        review_permissions(actor=None, cluster=cluster, ask=away, now=NOW + timedelta(hours=1))
    assert access_card(cluster, NOW).rights[0].standing == "granted"
    assert ClusterCredential.objects.filter(cluster=cluster, reviewed_at=NOW).count() == 2


def test_a_credential_rotated_while_it_was_asked_keeps_no_answer_of_the_one_before(cast):
    cluster = attach()
    given = CredentialGiven(token=TOKEN)

    def ask(right, _attributes):
        rotate_credential(actor=None, cluster=cluster, right=Right.RUNNER, given=given, now=NOW, note="")
        return True

    review_permissions(actor=None, cluster=cluster, ask=ask, now=NOW)
    assert ClusterCredential.objects.get(cluster=cluster, right="runner").reviewed_at is None


def test_the_application_s_database_role_keeps_and_changes_credentials(cast):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE portal_app")
    cluster = attach()
    given = CredentialGiven(token=TOKEN)
    rotate_credential(actor=None, cluster=cluster, right=Right.RUNNER, given=given, now=NOW, note="")
    remove_credential(actor=None, cluster=cluster, right=Right.RUNNER, now=NOW, note="")
    assert list(connection_of(cluster).credentials) == [Right.OBSERVER]
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")
