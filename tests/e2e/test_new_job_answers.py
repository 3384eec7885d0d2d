"""What the new-job page answers: never, wait, and what is wrong beside the field. Nothing refused is stored."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Response, expect

from portal.embedded.stack import Stack
from tests.e2e import disk
from tests.e2e.person import Person

LARGEST_MEMBER = 16_000
SMALL = {"memory": "256Mi", "size_mib": "1"}


def test_more_than_the_machine_has_is_never_with_the_maximum(researcher: Person, stack: Stack) -> None:
    before = _job_count(stack)
    verdict = researcher.new_job("run-operation", cpu="16", members="64", memory="256Mi")
    assert verdict.word == "never"
    assert "cores CPU needed" in verdict.say
    assert f" has {_cpu_of_this_machine(stack) / 1000:g} cores" in verdict.say
    with _form_answered(researcher, 422):
        researcher.page.click("#new-job button.main")
    assert researcher.verdict().word == "never"
    assert _job_count(stack) == before


def test_a_full_machine_is_wait_with_the_position_and_an_estimate(researcher: Person, stack: Stack) -> None:
    everything = _cpu_of_this_machine(stack)
    members = -(-everything // LARGEST_MEMBER)
    whole = SMALL | {
        "members": str(members),
        "cpu": f"{everything // members}m",
        "time_limit": "2m",
        "duration": "100s",
    }
    assert researcher.new_job("run-operation", name="fills all", **whole).word == "now"
    filling = researcher.submit()
    researcher.await_stage("running")

    first = researcher.new_job("run-operation", name="waits first", **whole)
    assert (first.word, first.facts["Position"]) == ("wait", "1 of 1")
    assert "from the time limits of running jobs" in first.say
    waiting = researcher.submit()
    expect(researcher.page.locator("#status .call")).to_contain_text("from the time limits of running jobs")
    expect(researcher.page.locator("#status .call dt", has_text="Position")).to_have_count(1)
    assert researcher.new_job("run-operation", name="waits second", **whole).facts["Position"] == "2 of 2"

    for job in (waiting, filling):
        _cancel(researcher, job)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cpu", "two"),
        ("cpu", "-1"),
        ("cpu", "1e3"),
        ("cpu", "１"),
        ("memory", "1 Gigabyte"),
        ("memory", "NaN"),
        ("members", "0"),
        ("members", "65"),
        ("time_limit", "forever"),
        ("name", "a\u202eb"),
        ("duration", "99d"),
    ],
)
def test_bad_input_is_said_beside_its_field_and_nothing_is_stored(
    researcher: Person, stack: Stack, field: str, value: str
) -> None:
    before = _job_count(stack)
    researcher.new_job("run-operation")
    researcher.fill_in(**{field: value})
    with _form_answered(researcher, 422):
        researcher.page.click("#new-job button.main")
    control = researcher.page.locator(f"[name='{field}'], [name='params-{field}']")
    beside = researcher.page.locator("#new-job .field").filter(has=control)
    expect(beside.locator(".err")).to_have_count(1)
    assert control.get_attribute("aria-invalid") == "true"
    assert f"{control.get_attribute('id')}_error" in (control.get_attribute("aria-describedby") or "")
    assert control.input_value() == value, "what was typed is still there"
    expect(researcher.page.locator("#new-job .err")).to_have_count(1)
    assert _job_count(stack) == before


@contextmanager
def _form_answered(someone: Person, status: int) -> Iterator[None]:
    """The form is answered with this status; the browser's own line about that is no complaint."""

    def is_page(answer: Response) -> bool:
        return answer.request.method == "POST" and answer.request.is_navigation_request()

    with someone.page.expect_response(is_page) as answer:
        yield
    assert answer.value.status == status
    someone.page.wait_for_load_state("load")
    lines = someone.complaints.lines
    assert all(f"status of {status}" in line for line in lines), lines
    lines.clear()


def _cancel(researcher: Person, job: str) -> None:
    researcher.go(f"/jobs/{job}")
    researcher.page.locator("form[action$='/cancel'] button").click()
    researcher.page.locator("#confirm button[value=yes]").click()
    expect(researcher.page.locator("#flash")).to_contain_text(re.compile("cancel", re.IGNORECASE))
    researcher.await_stage("archived")


def _job_count(stack: Stack) -> int:
    return int(disk.rows(stack, "SELECT count(*) AS n FROM jobs_job")[0]["n"])


def _cpu_of_this_machine(stack: Stack) -> int:
    return int(disk.rows(stack, "SELECT cpu_allocatable_milli AS milli FROM resources_node")[0]["milli"])
