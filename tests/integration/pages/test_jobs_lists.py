"""Lists of jobs, the queue, services and artifacts: what they show, to whom, and what their filters leave."""

import csv
import io
import json
from datetime import timedelta

import pytest

from jobs.models import Artifact, Attempt, Job
from jobs.selectors.jobs import JobFilter, group_counts, jobs_matching
from jobs.selectors.lineage import used_by
from jobs.selectors.pulse import own_events
from jobs.selectors.queue import QueueFilter, holders_of, queues, waiting_jobs
from jobs.selectors.results import reports_of
from jobs.services.record_event import record_event
from jobs.states import JobState
from tests import builders as make
from tests.builders import NOW, ago

WAITS = {"pool_key": "shared", "resource": "cpu", "need": 4_000, "free": 0, "total": 8_000, "res": "CPU", "pool": "S"}


def waiting(cast, position: int, project=None, person=None, **fields) -> Job:
    facts = WAITS | {"queue_position": position, "queue_total": 3}
    return make.make_job(
        project or cast.alpha,
        person or cast.member,
        name=f"waiting-{position}",
        reason="InsufficientCapacity",
        facts=facts,
        submitted=ago(minutes=60 - position),
        **fields,
    )


def left(job: Job, name: str, kind: str = "result", location: str = "/nowhere", size: int = 1) -> Artifact:
    attempt = job.attempts.first() or Attempt.objects.create(
        job=job,
        number=1,
        cluster=make.make_cluster(f"c-{job.pk.hex[:6]}"),
        pool_key="shared",
        workload_name=f"j-{job.pk.hex}-1",
        reserved_at=NOW,
        admitted_at=NOW,
        ended=True,
    )
    return Artifact.objects.create(
        project=job.project,
        job=job,
        attempt=attempt,
        name=name,
        kind=kind,
        location=location,
        bytes=size,
        sha256="ab" * 32,
        created_at=NOW,
    )


class TestFilters:
    def test_counts_of_the_chips_follow_the_other_filters(self, cast):
        make.make_job(cast.alpha, cast.member, name="train one", state=JobState.SUCCEEDED)
        make.make_job(cast.alpha, cast.member, name="train two", state=JobState.FAILED)
        make.make_job(cast.alpha, cast.member, name="other", state=JobState.FAILED)
        counts = group_counts(cast.member, JobFilter(text="train", group="failed"))
        assert counts == {"waiting": 0, "active": 0, "succeeded": 1, "failed": 1, "cancelled": 0}

    @pytest.mark.parametrize(
        ("wanted", "names"),
        [
            (JobFilter(state="RUNNING"), {"b"}),
            (JobFilter(group="failed"), {"a"}),
            (JobFilter(task_type="training"), {"b"}),
            (JobFilter(template="tests-batch"), {"a", "b"}),
            (JobFilter(project="alpha"), {"a", "b"}),
            (JobFilter(team="organisation"), {"a", "b"}),
            (JobFilter(team="vision"), set()),
            (JobFilter(team="no-such-team"), set()),
            (JobFilter(submitter="owner"), {"b"}),
            (JobFilter(pool="shared"), {"b"}),
            (JobFilter(cluster="site"), {"b"}),
            (JobFilter(reason="Running"), {"b"}),
            (JobFilter(since=ago(hours=3), until=ago(hours=1)), {"a"}),
            (JobFilter(text="B"), {"b"}),
            (JobFilter(text="\0"), set()),
            (JobFilter(reason="\0"), set()),
        ],
        ids=lambda value: "-".join(sorted(value)) if isinstance(value, set) else None,
    )
    def test_each_filter_keeps_what_it_says(self, cast, wanted, names):
        make.make_job(cast.alpha, cast.member, name="a", state=JobState.FAILED, submitted=ago(hours=2))
        running = make.make_job(
            cast.alpha,
            cast.owner,
            name="b",
            state=JobState.RUNNING,
            reason="Running",
            task_type="training",
            submitted=ago(minutes=5),
        )
        make.make_allocation(running, cast.node, reserved=NOW)
        make.make_job(cast.beta, cast.outsider, name="hidden", state=JobState.RUNNING, reason="Running")
        assert {job.name for job in jobs_matching(cast.member, wanted)} == names

    def test_the_page_says_what_is_wrong_with_a_date_and_finds_nothing(self, cast, as_user):
        make.make_job(cast.alpha, cast.member, name="my job")
        answer = as_user(cast.member).get("/jobs?since=yesterday")
        assert answer.status_code == 422 and "my job" not in answer.content.decode()

    def test_csv_holds_what_the_filter_leaves(self, cast, as_user):
        make.make_job(cast.alpha, cast.member, name="=1+1", state=JobState.FAILED)
        make.make_job(cast.alpha, cast.member, name="other")
        answer = as_user(cast.member).get("/jobs?state=failed&format=csv")
        rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))
        assert [(row["name"], row["state"], row["project"]) for row in rows] == [("'=1+1", "FAILED", "Alpha")]


class TestQueue:
    def test_it_is_in_the_order_of_the_cycle(self, cast):
        low = make.make_job(cast.alpha, cast.member, priority_class="best_effort", submitted=ago(hours=9))
        late = make.make_job(cast.alpha, cast.member, priority_class="standard", submitted=ago(hours=1))
        urgent = make.make_job(cast.alpha, cast.member, priority_class="standard", priority=5, submitted=ago(minutes=1))
        first = make.make_job(cast.alpha, cast.member, priority_class="production", submitted=ago(minutes=1))
        assert list(waiting_jobs(cast.member, QueueFilter())) == [first, urgent, late, low]

    def test_others_count_but_have_no_name(self, cast, as_user):
        waiting(cast, 1, cast.beta, cast.outsider)
        waiting(cast, 2, cast.beta, cast.outsider)
        waiting(cast, 3)
        page = as_user(cast.member).get("/queue").content.decode()
        assert "waiting-3" in page and "waiting-1" not in page and "Beta" not in page
        assert "3 of 3" in page and "2 jobs ahead in this pool" in page
        assert [(q.pool, q.waiting, q.visible) for q in queues(cast.member, QueueFilter()).pools] == [("shared", 3, 1)]

    def test_a_stranger_sees_no_queue_at_all(self, cast, as_user):
        waiting(cast, 1)
        page = as_user(cast.stranger).get("/queue").content.decode()
        assert "waiting-1" not in page and "Nothing waits" in page
        assert queues(cast.stranger, QueueFilter()).pools == []

    def test_holders_are_named_only_to_those_who_see_them(self, cast):
        mine = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING, time_limit_ms=3_600_000)
        theirs = make.make_job(cast.beta, cast.outsider, state=JobState.RUNNING)
        for job, cores in ((mine, 2_000), (theirs, 5_000)):
            lines = [("cpu", "cpu", cores)]
            make.make_allocation(
                job, cast.node, lines, reserved=ago(hours=1), bound=ago(hours=1), started=ago(minutes=30)
            )
        job = waiting(cast, 1)
        first, second = holders_of(cast.member, [job])[job.pk]
        assert (first.job, first.amount, first.ends_at) == (mine, 2_000, NOW + timedelta(minutes=30))
        assert (second.job, second.amount, second.ends_at) == (None, 5_000, None)

    @pytest.mark.parametrize("query", ["pool=shared", "project=alpha", "reason=InsufficientCapacity"])
    def test_filters_are_chips_that_come_off(self, cast, as_user, query):
        waiting(cast, 1)
        make.make_job(cast.alpha, cast.member, name="elsewhere")
        page = as_user(cast.member).get(f"/queue?{query}").content.decode()
        assert "waiting-1" in page and 'aria-current="true"' in page
        assert "No waiting job matches" in as_user(cast.member).get("/queue?pool=none").content.decode()

    def test_csv_holds_base_units(self, cast, as_user):
        waiting(cast, 1)
        answer = as_user(cast.member).get("/queue?format=csv")
        (row,) = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig")))
        assert (row["pool"], row["position"], row["need"], row["resource"]) == ("shared", "1", "4000", "cpu")


class TestLineage:
    def test_used_by_names_only_visible_jobs(self, cast):
        made = left(make.make_job(cast.alpha, cast.member, name="maker"), "dataset", "dataset")
        inputs = [{"variable": "PORTAL_INPUT_DATASET", "artifact": str(made.pk), "kind": "dataset"}]
        user = make.make_job(cast.alpha, cast.member, name="user", inputs=inputs)
        make.make_job(cast.beta, cast.outsider, name="hidden", inputs=inputs)
        assert used_by(cast.member, [made]) == {made.pk: [user]}
        assert used_by(cast.stranger, [made]) == {}
        assert [j.name for j in jobs_matching(cast.member, JobFilter(uses=str(made.pk)))] == ["user"]

    def test_the_artifact_page_links_both_ways(self, cast, as_user):
        maker = make.make_job(cast.alpha, cast.member, name="maker")
        made = left(maker, "dataset", "dataset")
        left(maker, "member-0.log", "log")
        left(make.make_job(cast.beta, cast.outsider), "secret", "dataset")
        inputs = [{"variable": "V", "artifact": str(made.pk), "kind": "dataset"}]
        user = make.make_job(cast.alpha, cast.member, name="user", inputs=inputs)
        page = as_user(cast.member).get("/artifacts").content.decode()
        assert f"/jobs/{maker.pk}" in page and f"/jobs/{user.pk}" in page
        assert "secret" not in page and "member-0.log" not in page
        assert "member-0.log" in as_user(cast.member).get("/artifacts?kind=log").content.decode()
        assert "No artifact matches" in as_user(cast.member).get("/artifacts?q=nothing").content.decode()


class TestResults:
    def report(self, cast, settings, tmp_path, content: str, params=None):
        settings.STATE_DIR = tmp_path
        path = tmp_path / "data" / "result.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        job = make.make_job(cast.alpha, cast.member, params=params or {})
        left(job, "result", location=str(path), size=len(content))
        return reports_of(job)

    def test_a_part_for_metrics_comes_first(self, cast, settings, tmp_path):
        text = json.dumps({"metric": {"accuracy": 0.9, "log_loss": 0.1}, "data": {"rows": 5}, "format": "x/1"})
        (report,) = self.report(cast, settings, tmp_path, text)
        assert [(f.name, f.value) for f in report.metrics] == [("accuracy", 0.9), ("log_loss", 0.1)]
        assert [(f.name, f.value) for f in report.about] == [("data.rows", 5), ("format", "x/1")]

    def test_without_one_numbers_that_were_not_given_are_metrics(self, cast, settings, tmp_path):
        text = json.dumps({"loss": 0.5, "seed": 42, "shape": "moons", "done": True})
        (report,) = self.report(cast, settings, tmp_path, text, {"seed": 42})
        assert [(f.name, f.value) for f in report.metrics] == [("loss", 0.5)]
        assert {f.name for f in report.about} == {"seed", "shape", "done"}

    @pytest.mark.parametrize(
        "text", ["", "[1]", "{", '"x"', "[" * 100_000, json.dumps({"x": "y" * 70_000})], ids=lambda text: text[:10]
    )
    def test_what_is_no_small_object_reports_nothing(self, cast, settings, tmp_path, text):
        assert self.report(cast, settings, tmp_path, text) == []

    def test_many_strange_values_are_bounded_and_shown_safely(self, cast, settings, tmp_path):
        raw = {f"k{i}": i for i in range(100)} | {
            "bad\u202e": "a\x00b",
            "nan": float("nan"),
            "big": 10**30,
            "none": None,
        }
        (report,) = self.report(cast, settings, tmp_path, json.dumps(raw))
        assert len(report.metrics) + len(report.about) == 40 and report.left_out == 64


def test_what_changed_is_one_line_a_job(cast):
    first, second = (make.make_job(cast.alpha, cast.member, name=name) for name in "ab")
    for minutes, job, reason in ((9, first, "Submitted"), (5, second, "Submitted"), (1, first, "Running")):
        record_event(job=job, at=ago(minutes=minutes), now=NOW, kind="state", reason=reason)
    events = own_events(cast.member, ago(days=7))
    assert [(e.job.name, e.reason) for e in events] == [("a", "Running"), ("b", "Submitted")]


class TestServices:
    def test_ended_ones_leave_for_their_own_chip(self, cast, as_user):
        make.make_job(cast.alpha, cast.member, name="serving", task_type="inference", state=JobState.RUNNING)
        make.make_job(cast.alpha, cast.member, name="gone", task_type="inference", state=JobState.CANCELLED)
        client = as_user(cast.member)
        page, ended = (client.get(path).content.decode() for path in ("/services", "/services?ended=1"))
        assert "serving" in page and "gone" not in page
        assert "gone" in ended and "serving" not in ended


def test_a_viewers_empty_usage_says_why_and_where_to_look(cast, as_user):
    page = as_user(cast.viewer).get("/usage/me").content.decode()
    assert "your roles do not let you submit any" in page and "/usage/projects?project=alpha" in page
