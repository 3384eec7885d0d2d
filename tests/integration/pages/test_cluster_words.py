"""The cluster's own words about a job's members are on its page and in the API."""

from django.urls import reverse

from tests import builders as make


def test_members_that_wait_or_failed_are_quoted_and_grouped(cast, as_user):
    job = make.make_job(cast.alpha, cast.member, state="STARTING")
    held = make.make_allocation(job, cast.node, reserved=make.NOW)
    message = 'Back-off pulling image "x<b>"'
    pulls = [{"index": i, "phase": "Pending", "reason": "ImagePullBackOff", "message": message} for i in (0, 2)]
    fine = {"index": 1, "phase": "Running", "reason": "", "message": ""}
    type(held.attempt).objects.filter(pk=held.attempt_id).update(members_seen=[pulls[0], fine, pulls[1]])
    client = as_user(cast.member)
    page = client.get(reverse("job_detail", args=[job.pk])).content.decode()
    assert "ImagePullBackOff" in page and "0, 2" in page and "x&lt;b&gt;" in page
    (attempt,) = client.get(reverse("api_job", args=[job.pk])).json()["attempts"]
    assert attempt["cluster_words"] == [{"members": [0, 2], "reason": "ImagePullBackOff", "message": message}]


def test_what_runs_or_ended_well_is_not_quoted(cast, as_user):
    job = make.make_job(cast.alpha, cast.member, state="RUNNING")
    make.make_allocation(job, cast.node, reserved=make.NOW, bound=make.NOW, started=make.NOW)
    page = as_user(cast.member).get(reverse("job_detail", args=[job.pk])).content.decode()
    assert 'data-panel="cluster-words"' not in page
