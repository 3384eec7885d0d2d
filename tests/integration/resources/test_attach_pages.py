"""Attaching a cluster on pages: what is refused stands beside its field, and a secret is never in any page."""

import json
import logging
from dataclasses import replace
from datetime import timedelta

import pytest
import time_machine

from resources.drivers.kubernetes.connection import Right
from resources.models import Cluster, ClusterEndpoint
from resources.selectors.connections import connection_of
from resources.services.review_permissions import review_permissions
from resources.vault import CannotOpen, unseal
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import NOW
from tests.integration.resources.attached import CANARY, FORM, GIVEN, attach, database_text, hidden, shipped
from tests.integration.resources.conftest import digest_of
from tests.unit.drivers.kubernetes_pki import SERVER, TOKEN, config, jwt


@pytest.fixture(autouse=True)
def own_state(settings, tmp_path):
    settings.STATE_DIR = tmp_path


# --- pages --------------------------------------------------------------------------------------------


def test_a_person_attaches_a_cluster_and_the_pages_never_show_the_secret(cast, as_user):
    admin = as_user(cast.platform_admin)
    assert "/clusters/new/kubernetes" in admin.page("/clusters/new")
    given = FORM | {"kubeconfig": json.dumps(config(user={"token": CANARY})), "kubeconfig_right": "observer"}
    page = admin.preview("/clusters/new/kubernetes", **given)
    assert SERVER in page and "No credential for Runner." in page and "showing logs" in page
    assert CANARY not in page and not Cluster.objects.filter(key="east").exists()
    # What the page holds is what the browser sends on.
    sealed = {name: value for name, value in hidden(page).items() if name not in ("step", "csrfmiddlewaretoken")}
    admin.send("/clusters/new/kubernetes", 302, **sealed | {"step": "save", "reason": "A new hall."})
    cluster = Cluster.objects.get(key="east")
    assert connection_of(cluster).credentials[Right.OBSERVER].token == CANARY
    for path in ("/clusters", "/clusters/east", "/clusters/east/access", "/audit"):
        assert CANARY not in admin.page(path)


def test_going_back_keeps_the_secret_without_showing_it(cast, as_user):
    admin = as_user(cast.platform_admin)
    given = FORM | {"server": SERVER, "observer_token": CANARY}
    page = admin.preview("/clusters/new/kubernetes", **given)
    back = admin.send("/clusters/new/kubernetes", 200, **hidden(page) | {"step": "edit"})
    assert CANARY not in back and "Given before and kept" in back
    again = hidden(back) | given | {"observer_token": "", "step": "preview"}
    assert 'value="save"' in admin.send("/clusters/new/kubernetes", 200, **again)


def test_a_sealed_field_is_of_one_person_and_one_half_hour(cast, as_user):
    page = as_user(cast.platform_admin).preview(
        "/clusters/new/kubernetes", **FORM, server=SERVER, observer_token=CANARY
    )
    kept = hidden(page)["observer_token"]
    with time_machine.travel(NOW + timedelta(minutes=31), tick=False):
        late = as_user(cast.platform_admin).send(
            "/clusters/new/kubernetes", 422, **FORM, server=SERVER, observer_token=kept, step="preview"
        )
    assert "Paste it again" in late
    with pytest.raises(CannotOpen):
        unseal(kept.removeprefix("sealed:"), about=f"form:{cast.pool_admin.pk}")


def test_refusals_stand_beside_their_fields(cast, as_user):
    admin = as_user(cast.platform_admin)
    text = json.dumps(config(user={"exec": {"command": "sh"}}))
    page = admin.send("/clusters/new/kubernetes", 422, step="preview", **FORM, kubeconfig=text)
    assert 'id="id_kubeconfig_error"' in page and "starting a program (exec)" in page
    assert AuditEvent.objects.filter(verb="cluster.refused", reason="ExecRefused").count() == 1
    attach()
    page = admin.send("/clusters/new/kubernetes", 422, step="preview", **FORM, server=SERVER, observer_token=TOKEN)
    assert "east is taken" in page


def test_the_pages_show_what_is_missing_what_is_too_much_and_what_ends(cast, as_user):
    soon = jwt(exp=int((NOW + timedelta(days=3)).timestamp()), sub="x")
    cluster = attach(given=replace(GIVEN, tokens={Right.OBSERVER: soon, Right.RUNNER: CANARY}))
    ask = shipped("get /pods/log armillary-jobs")
    review_permissions(
        actor=None, cluster=cluster, now=NOW, ask=lambda r, a: ask(r, a) or a == {"verb": "list", "resource": "secrets"}
    )
    admin = as_user(cast.platform_admin)
    for path in ("/clusters/east", "/clusters/east/access"):
        page = admin.page(path)
        assert "Observer: the credential ends soon" in page
        assert "Runner: the credential may do more than it should" in page and "list secrets" in page
        assert 'data-state="missing"' in page and "Showing logs" in page
    assert as_user(cast.auditor).page("/clusters/east/access").count("Rotate") == 0


def test_a_credential_is_rotated_and_removed_on_pages(cast, as_user):
    cluster, admin = attach(), as_user(cast.platform_admin)
    page = admin.preview("/clusters/east/access/runner", token=TOKEN)
    assert TOKEN not in page
    admin.save("/clusters/east/access/runner", token=TOKEN, reason="Due.")
    assert connection_of(cluster).credentials[Right.RUNNER].token == TOKEN
    assert "not a bearer" not in admin.send("/clusters/east/access/runner", 422, step="preview", token="short")
    page = admin.page("/clusters/east/access/runner/remove")
    assert "running jobs" in page
    admin.send(
        "/clusters/east/access/runner/remove", 302, step="save", digest=digest_of(page), reason="Only looked at."
    )
    assert list(connection_of(cluster).credentials) == [Right.OBSERVER]
    admin.page("/clusters/east/access/nobody", 404)
    admin.page("/clusters/site/access", 404)


def test_asking_a_cluster_that_is_away_says_so(cast, as_user):
    make.make_kubernetes("far", server="https://127.0.0.1:9")
    admin = as_user(cast.platform_admin)
    admin.send("/clusters/far/access/review", 302)
    assert "did not answer (Unreachable)" in admin.page("/clusters/far/access")


def test_manifests_are_files_for_their_namespace(cast, as_user):
    admin = as_user(cast.platform_admin)
    answer = admin.client.get("/cluster-roles/runner.yaml?namespace=team-a")
    assert "armillary-runner.yaml" in answer["Content-Disposition"] and b"namespace: team-a" in answer.content
    assert admin.client.get("/cluster-roles/runner.yaml?namespace=kube-system").status_code == 422
    admin.page("/cluster-roles/root.yaml", 404)


# --- the canary ---------------------------------------------------------------------------------------


def test_t05_the_secret_is_in_no_row_no_log_and_no_answer(cast, as_user, caplog):
    caplog.set_level(logging.DEBUG)
    admin = as_user(cast.platform_admin)
    given = FORM | {"server": SERVER, "observer_token": CANARY, "runner_token": CANARY + "-runner"}
    answers = [admin.preview("/clusters/new/kubernetes", **given), admin.save("/clusters/new/kubernetes", **given)]
    answers.append(admin.send("/clusters/new/kubernetes", 422, step="preview", **given | {"server": "http://x"}))
    answers.append(admin.preview("/clusters/east/access/steward", token=CANARY + "-steward"))
    body = json.dumps({"kubeconfig": json.dumps(config(user={"token": CANARY, "tokenFile": CANARY}))})
    sent = admin.client.post("/api/v1/kubernetes-clusters/preview", body, content_type="application/json")
    assert sent.status_code == 422 and sent.json()["fields"][0]["reason"] == "TokenFileRefused"
    answers.append(sent.content.decode())
    paths = ["/clusters", "/clusters/east", "/clusters/east/access", "/audit", "/setup"]
    paths += ["/api/v1/clusters", "/api/v1/clusters/east", "/api/v1/clusters/east/access", "/api/v1/audit"]
    answers += [admin.page(path) for path in paths]
    assert Cluster.objects.filter(key="east").exists() and ClusterEndpoint.objects.count() == 1
    assert CANARY not in "\n".join(answers)
    assert CANARY not in database_text()
    assert CANARY not in caplog.text
