"""The job page: the same spans in rail and usage, each level's own reading, results, lineage, audit, live parts."""

import json
from datetime import timedelta

import pytest

from jobs.models import Attempt, Job, ReleaseRecord
from jobs.selectors.jobs import events_of, last_attempt
from jobs.selectors.proof import levels_of
from jobs.selectors.rail import rail_of
from jobs.services.record_event import record_event
from jobs.states import JobState
from jobs.web.usage_panel import usage_of
from portal.lib.units import duration_text
from tenants.services.record_audit import record_audit
from tests import builders as make
from tests.builders import NOW

TABS = ("overview", "log", "history", "events", "files", "metrics", "usage", "manifest", "audit")
BEGUN = NOW - timedelta(minutes=5)


def at(**span: float):
    return BEGUN + timedelta(**span)


@pytest.fixture
def done(cast) -> Job:
    """Admitted after 0.4 s, bound after 1.25 s, up after 3.75 s, ended after 63 s, released 0.7 s later."""
    job = make.make_job(
        cast.alpha,
        cast.member,
        state=JobState.SUCCEEDED,
        reason="Succeeded",
        submitted=BEGUN,
        finished_at=at(seconds=63),
        archived_at=at(seconds=65),
    )
    make.make_allocation(
        job,
        cast.node,
        reserved=at(seconds=0.4),
        bound=at(seconds=1.25),
        started=at(seconds=3.75),
        stopped=at(seconds=63),
        released=at(seconds=63.7),
    )
    # The portal notices later than it happens: the rail must not show when it noticed.
    noticed = {"QUEUED": 0, "ADMITTED": 0.4, "STARTING": 0.5, "RUNNING": 4.9, "SUCCEEDED": 64}
    for state, seconds in noticed.items():
        record_event(job=job, at=at(seconds=seconds), now=NOW, kind="state", reason="Submitted", new=state)
    return job


def test_the_rail_and_the_usage_show_the_same_spans(done):
    causes = {stage.key: stage.cause for stage in rail_of(done, last_attempt(done), list(events_of(done)))}
    usage = usage_of(done, NOW)
    assert (usage.wait_ms, usage.spans) == (1_250, {"startup": 2_500, "running": 59_250, "release_lag": 700})
    assert causes["queued"] == f"wait {duration_text(1_250)}" == "wait 1.2 s"
    assert causes["starting"] == f"startup {duration_text(2_500)}" == "startup 2.5 s"
    assert causes["running"] == duration_text(59_250) == "59.2 s"
    assert causes["releasing"] == f"release lag {duration_text(700)}" == "release lag 700 ms"


def test_each_level_of_the_proof_says_when_it_was_read(done):
    read = [at(seconds=63.5), at(seconds=63.6), at(seconds=63.7)]
    evidence = [{"read_at": moment.isoformat()} for moment in read]
    record = ReleaseRecord.objects.create(
        allocation=last_attempt(done).allocations.get(),
        stopped_at=at(seconds=63),
        objects_gone_at=read[0],
        objects_evidence=evidence[0] | {"left": 0},
        capacity_free_at=read[1],
        capacity_evidence=evidence[1] | {"used": {"cpu": 0, "memory": 0}},
        device_evidence=evidence[2],
    )
    levels = levels_of(record)
    assert [level.read_at for level in levels] == read
    assert [(level.observed, level.after_ms) for level in levels] == [
        ("seen", 500),
        ("seen", 600),
        ("unobserved", None),
    ]


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_answers_whole_and_as_the_part_that_moves(cast, as_user, done, tab):
    client = as_user(cast.member)
    assert client.get(f"/jobs/{done.pk}?tab={tab}").status_code == 200
    part = client.get(f"/jobs/{done.pk}/part?tab={tab}")
    assert part.status_code == 200 and b"<html" not in part.content


def test_a_job_that_never_started_has_all_tabs_too(cast, as_user):
    job = make.make_job(cast.alpha, cast.member)
    client = as_user(cast.member)
    pages = {tab: client.get(f"/jobs/{job.pk}?tab={tab}").content.decode() for tab in TABS}
    assert "Nothing was applied yet" in pages["manifest"] and "Not measured" in pages["metrics"]


def test_results_stand_on_the_page_and_in_the_api(cast, as_user, done, settings, tmp_path):
    settings.STATE_DIR = tmp_path
    path = tmp_path / "data" / "result.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"metric": {"accuracy": 0.8797}}))
    make.make_artifact(done, name="evaluation", location=str(path))
    client = as_user(cast.member)
    assert "0.8797" in client.get(f"/jobs/{done.pk}").content.decode()
    answer = client.get(f"/api/v1/jobs/{done.pk}").json()
    assert answer["results"][0]["metrics"] == [{"name": "accuracy", "value": 0.8797}]


def test_inputs_lead_to_the_job_that_made_them(cast, as_user, done):
    made = make.make_artifact(done, "dataset", name="moons")
    version = make.make_template("with-data")
    params = {
        "type": "object",
        "properties": {"dataset": {"type": "string", "format": "artifact", "x-kind": "dataset"}},
        "required": ["dataset"],
    }
    version.spec = version.spec | {"params": params}
    version.save()
    inputs = [{"variable": "PORTAL_INPUT_DATASET", "artifact": str(made.pk), "kind": "dataset"}]
    job = make.make_job(
        cast.alpha, cast.member, template_version=version, params={"dataset": str(made.pk)}, inputs=inputs, name="user"
    )
    client = as_user(cast.member)
    page = client.get(f"/jobs/{job.pk}").content.decode()
    assert f'<a href="/jobs/{done.pk}">moons</a>' in page
    assert f'<a href="/jobs/{job.pk}">user</a>' in client.get(f"/jobs/{done.pk}?tab=files").content.decode()
    assert client.get(f"/api/v1/jobs/{job.pk}").json()["inputs"][0]["job"] == str(done.pk)


def test_refusals_are_for_those_who_read_the_audit(cast, as_user, done):
    record_audit(actor=cast.owner, verb="job.touched", target=done, now=NOW)
    record_audit(actor=cast.outsider, verb="job.cancelled", target=done, result="denied", now=NOW)
    member, auditor = (as_user(user).get(f"/jobs/{done.pk}?tab=audit") for user in (cast.member, cast.auditor))
    assert "job.touched" in member.content.decode() and "job.cancelled" not in member.content.decode()
    assert "job.cancelled" in auditor.content.decode()


@pytest.mark.parametrize(
    ("task_type", "state", "words"),
    [
        ("batch", JobState.RUNNING, ("Cancel", "New job from this one")),
        ("batch", JobState.FAILED, ("Run again",)),
        ("inference", JobState.RUNNING, ("Stop", "New job from this one")),
        ("inference", JobState.CANCELLED, ("Start again",)),
    ],
)
def test_buttons_say_what_they_do(cast, as_user, task_type, state, words):
    job = make.make_job(cast.alpha, cast.member, task_type=task_type, state=state)
    page = as_user(cast.member).get(f"/jobs/{job.pk}/status").content.decode()
    assert all(f">{word}</" in page for word in words)
    assert (">Cancel</" in page) == ("Cancel" in words)


def test_a_viewer_is_offered_nothing_that_is_refused(cast, as_user, done):
    page = as_user(cast.viewer).get(f"/jobs/{done.pk}/status").content.decode()
    assert "Run again" not in page and "Cancel</" not in page


class TestVerdict:
    def say(self, cast, as_user, **given):
        from jobs.services.publish_shipped_templates import publish_shipped_templates

        publish_shipped_templates(now=NOW)
        sent = {"project": str(cast.alpha.pk), "name": "n", "cpu": "500m", "memory": "512Mi", **given}
        return as_user(cast.member).post("/templates/train-network/preview", sent).content.decode()

    def test_an_untouched_form_says_what_to_choose(self, cast, as_user):
        page = self.say(cast, as_user)
        assert "Choose first: Data set." in page and "the project has none yet" in page and "NEVER" not in page

    @pytest.mark.parametrize(
        ("field", "value"), [("cpu", "17"), ("memory", "17Gi"), ("members", "9"), ("time_limit", "2d")]
    )
    def test_beyond_the_templates_maximum_is_never_with_the_maximum(self, cast, as_user, field, value):
        page = self.say(cast, as_user, **{field: value})
        assert "NEVER" in page
        assert {"cpu": "16", "memory": "16Gi", "members": "8", "time_limit": "1d"}[field] in page


@pytest.mark.parametrize("simulated", [True, False])
def test_a_job_on_a_simulated_cluster_wears_the_ribbon(cast, as_user, done, simulated):
    type(cast.cluster).objects.filter(pk=cast.cluster.pk).update(simulated=simulated)
    page = as_user(cast.member).get(f"/jobs/{done.pk}/status").content.decode()
    assert ("Simulated (Site)" in page) == simulated


def test_the_attempts_of_a_requeued_job_keep_their_own_rail(done):
    Attempt.objects.filter(job=done).update(number=1)
    Job.objects.filter(pk=done.pk).update(state=JobState.QUEUED, generation=2, finished_at=None, archived_at=None)
    record_event(job=done, at=at(seconds=70), now=NOW, kind="state", reason="Requeued", new="QUEUED")
    done.refresh_from_db()
    stages = {stage.key: stage for stage in rail_of(done, last_attempt(done), list(events_of(done)))}
    assert stages["queued"].time == at(seconds=70) and stages["queued"].cause == ""
    assert stages["running"].time is None
