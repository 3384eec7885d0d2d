"""The researcher's whole story on the running portal: real processes run the chain, real bytes are read back."""

import json
import re
import urllib.error
import urllib.request
from functools import cached_property
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from portal.embedded.stack import Stack
from tests.e2e import disk
from tests.e2e.person import STAGES, Person, person, until

FEATURES = 4


class Story:
    """The links of the chain, each made in the browser the first time a test needs it."""

    def __init__(self, researcher: Person) -> None:
        self.researcher = researcher

    @cached_property
    def dataset(self) -> str:
        """Two members write a data set in parallel."""
        return self.researcher.run("make-data-set", name="story data", rows="3000", features=str(FEATURES), members="2")

    @cached_property
    def checkpoint(self) -> str:
        """A training that reads it."""
        assert self.dataset
        return self.researcher.run(
            "train-network", name="story training", dataset="story data", steps="300", hidden_units="8"
        )

    @cached_property
    def tuned(self) -> str:
        """A fine-tuning that starts from the training's checkpoint."""
        assert self.checkpoint
        return self.researcher.run(
            "fine-tune-network", name="story tuning", checkpoint="story training", dataset="story data", steps="50"
        )


@pytest.fixture(scope="module")
def story(researcher: Person) -> Story:
    return Story(researcher)


def test_a_job_goes_from_its_template_to_release_and_usage_on_a_page_that_moves_by_itself(
    researcher: Person, base_url: str
) -> None:
    page = researcher.page
    researcher.go("/")
    page.get_by_role("link", name="Templates", exact=True).first.click()
    page.get_by_role("link", name="Make a data set").click()
    page.get_by_role("link", name="New job").click()
    expect(page.locator("#verdict [data-verdict=now]")).to_have_count(1)
    verdict = researcher.fill(name="first steps", rows="2000")
    assert (verdict.word, verdict.say) == ("now", f"Starts now in pool This machine on {_node(researcher)}.")
    assert re.fullmatch(r"\d+\.\d\d points per hour", verdict.price)
    assert verdict.facts["CPU"] == "1 core" and verdict.facts["Memory"] == "1 GiB"

    key = researcher.submit()
    page.evaluate("window.loadedOnce = true")
    researcher.await_stage("archived")
    assert researcher.log("blocks=") and researcher.state() == "succeeded"
    assert researcher.stages_done() == list(STAGES)
    assert researcher.proof() == {"Objects gone": "seen", "Capacity free": "seen", "Device idle": "seen"}
    usage = page.locator("[data-panel=usage]")
    assert usage.locator("header .cap").inner_text() == "final"
    assert usage.locator("tbody th").all_inner_texts() == ["Wait", "Startup", "Running", "Release lag"]
    assert page.evaluate("window.loadedOnce") is True, "the page was loaded again"
    assert page.url == f"{base_url}/jobs/{key}"


def test_files_on_the_page_have_the_digests_of_the_bytes_on_disk(
    researcher: Person, stack: Stack, story: Story
) -> None:
    for job, names in {
        story.dataset: {"dataset", "member-0.log", "member-1.log"},
        story.checkpoint: {"checkpoint", "metrics", "member-0.log"},
        story.tuned: {"checkpoint", "metrics", "member-0.log"},
    }.items():
        files = researcher.files(job)
        assert set(files) == names
        for file in files.values():
            assert file.sha256 == disk.digest(disk.artifact(stack, job, file.name)), file.name


def test_each_link_of_the_chain_read_the_bytes_of_the_one_before(
    researcher: Person, stack: Stack, story: Story
) -> None:
    data = researcher.files(story.dataset)["dataset"].sha256
    trained = researcher.files(story.checkpoint)["checkpoint"].sha256
    training, tuning = disk.content(stack, story.checkpoint, "metrics"), disk.content(stack, story.tuned, "metrics")
    assert training["data_sha256"] == tuning["data_sha256"] == data
    assert training["train_accuracy"] > 0.8, "two moons are easy to tell apart"
    assert (training["parent_sha256"], tuning["parent_sha256"]) == (None, trained)


def test_an_evaluation_names_its_model_and_its_data_and_measures_held_out_rows(
    researcher: Person, stack: Stack, story: Story
) -> None:
    assert story.checkpoint
    job = researcher.run("evaluate-checkpoint", name="story check", checkpoint="story training", dataset="story data")
    result = disk.content(stack, job, "evaluation")
    assert result["model"]["sha256"] == researcher.files(story.checkpoint)["checkpoint"].sha256
    assert result["data"]["sha256"] == researcher.files(story.dataset)["dataset"].sha256
    manifest = json.loads((disk.artifact(stack, story.dataset, "dataset") / "manifest.json").read_bytes())
    assert (result["data"]["split"], result["data"]["rows"]) == ("held-out", manifest["rows"]["held-out"])
    assert result["metric"]["accuracy"] > 0.8
    researcher.go(f"/jobs/{job}")
    researcher.log(f"accuracy={result['metric']['accuracy']:.4f}")


def test_a_service_answers_only_callers_with_the_projects_token_until_it_is_cancelled(
    chromium: Browser, researcher: Person, stack: Stack, base_url: str, story: Story
) -> None:
    with person(chromium, base_url) as owner:
        owner.sign_in("owner", stack.accounts["owner"])
        token = _new_token(owner)
    assert story.tuned
    assert researcher.new_job("serve-checkpoint", name="story service", checkpoint="story tuning").word == "now"
    researcher.submit()
    address = _ready_address(researcher)
    assert _call(address, None)[0] == _call(address, "arm_wrong")[0] == 401
    status, answer = _call(address, token)
    assert status == 200 and answer["labels"][0] in (0, 1)
    service = researcher.page.url
    assert answer["model"] == researcher.files(story.tuned)["checkpoint"].sha256

    researcher.page.goto(service)
    researcher.page.locator("form[action$='/cancel'] button").click()
    researcher.page.locator("#confirm button[value=yes]").click()
    researcher.await_stage("archived")
    assert researcher.state() == "cancelled" and "stopping" in researcher.stages_done()
    assert set(researcher.proof().values()) == {"seen"}
    with pytest.raises(urllib.error.URLError):
        _call(address, token)


def test_an_operation_runs_and_its_answer_is_kept(researcher: Person, stack: Stack) -> None:
    job = researcher.run(
        "run-operation", name="story sums", operation="SHA-256", size_mib="1", duration="1s", members="2"
    )
    answers = [disk.content(stack, job, f"result-{index}") for index in (0, 1)]
    assert all(re.fullmatch("[0-9a-f]{64}", answer["answer"]) and answer["passes"] >= 1 for answer in answers)
    assert answers[0]["answer"] != answers[1]["answer"], "each member works on bytes of its own"


def test_a_session_ends_by_itself_when_its_time_is_over(researcher: Person, stack: Stack) -> None:
    job = researcher.run("open-session", name="story session", time_to_live="2s", heartbeat="1s", note="读书笔记 <b>")
    assert researcher.state() == "succeeded"
    notes = disk.artifact(stack, job, "notes").read_text(encoding="utf-8")
    assert notes.startswith("读书笔记 <b>\n\nheartbeat=1 ") and "session ended: " in notes
    [ran] = disk.rows(
        stack,
        "SELECT extract(epoch FROM a.stopped_at - a.started_at) AS seconds, j.reason FROM jobs_attempt a"
        " JOIN jobs_job j ON j.id = a.job_id WHERE j.id = %s",
        job,
    )
    # The session and its machine keep the same time; whichever is first ends it.
    assert 1.5 < ran["seconds"] < 30 and ran["reason"] in ("TimeToLiveReached", "Succeeded"), ran


def test_my_usage_lists_every_job_once_its_entries_are_final(researcher: Person, stack: Stack, story: Story) -> None:
    assert story.tuned
    wanted = {story.dataset, story.checkpoint, story.tuned}

    def listed() -> set[str]:
        researcher.go("/usage/me")
        links = researcher.page.locator("[data-panel=jobs] a.name").evaluate_all("all => all.map(a => a.href)")
        return {link.rpartition("/")[2] for link in links}

    until(lambda: wanted <= listed(), within=30, what=f"{wanted} are not all in My usage")
    entered = disk.rows(stack, "SELECT job_id::text AS job, count(*) AS n FROM metering_segment GROUP BY job_id")
    assert wanted <= {row["job"] for row in entered}


def _node(researcher: Person) -> str:
    card = researcher.page.locator("#verdict [data-verdict] p").inner_text()
    return card.rpartition(" on ")[2].rstrip(".")


def _new_token(owner: Person) -> str:
    owner.go("/services")
    owner.page.locator("[data-panel=tokens] tr", has_text="Grid inspection").locator("button").click()
    owner.page.locator("#confirm button[value=yes]").click()
    return owner.page.locator("#token").inner_text()


def _ready_address(researcher: Person) -> str:
    ready = researcher.page.locator("#status", has_text="1 of 1 replicas ready")
    expect(ready).to_have_count(1, timeout=60_000)
    said = researcher.page.locator("#status .mono", has_text="/predict").inner_text()
    return said.removeprefix("POST ")


def _call(address: str, token: str | None) -> tuple[int, dict[str, Any]]:
    body = json.dumps({"rows": [[0.1] * FEATURES]}).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(address, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.load(refusal)
