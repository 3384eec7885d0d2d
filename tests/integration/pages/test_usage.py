"""Usage: every figure below was computed by hand from the times and amounts in the test."""

import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from jobs.models import Job
from jobs.states import JobState
from metering.selectors.open_use import open_pieces, sum_of
from metering.selectors.usage import Scope, jobs_that_used, use_by_class, use_by_day, use_by_job, use_by_project
from metering.selectors.windows import window_of
from metering.services.record_usage import record_usage
from resources.models.catalogue import Kind
from tests import builders as make
from tests.builders import GIB, NOW

CPU, MEMORY = ("cpu", "cpu", 2_000), ("memory", "memory", 4 * GIB)
TEN = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
NOVEMBER = window_of("month", NOW, UTC)


def second(n: int) -> datetime:
    """So many seconds after ten o'clock."""
    return TEN + timedelta(seconds=n)


def finished(cast, *, name: str = "done", lines=(CPU, MEMORY), submitter=None, project=None, at: int = 0) -> Job:
    """Bound at ten, 60 s startup, one hour of running, 30 s until it was seen free; entered in the ledger."""
    job = make.make_job(
        project or cast.alpha,
        submitter or cast.member,
        name=name,
        state=JobState.SUCCEEDED,
        reason="Succeeded",
        submitted=second(at - 600),
        lines=lines,
    )
    make.make_allocation(
        job,
        cast.node,
        lines,
        reserved=second(at - 5),
        bound=second(at),
        started=second(at + 60),
        stopped=second(at + 3660),
        released=second(at + 3690),
    )
    record_usage(now=NOW)
    return job


def held(cast, *, bound: datetime, started: datetime | None, lines=(CPU,), **more) -> Job:
    """A job that still holds something."""
    state = JobState.RUNNING if started else JobState.STARTING
    job = make.make_job(cast.alpha, cast.member, name="holding", state=state, submitted=bound, lines=lines)
    make.make_allocation(job, cast.node, lines, reserved=bound, bound=bound, started=started, **more)
    return job


def test_phases_weight_and_cost_of_one_job(cast):
    finished(cast)
    cpu, memory = sorted(use_by_class(Scope(user=cast.member.pk), NOVEMBER), key=lambda use: use.class_key)
    # 2 cores: 60 s, 3600 s, 30 s in milli-CPU x ms
    assert cpu.phases == {"startup": 2_000 * 60_000, "running": 2_000 * 3_600_000, "release_lag": 2_000 * 30_000}
    # 3690 s of 2 cores = 2.05 core-hours at 1 point and 1 weight
    assert cpu.cost == {"points": Decimal("2050000.000000000000")}
    assert cpu.weight == Decimal("2050000.000000000000")
    # 3690 s of 4 GiB = 4.1 GiB-hours at 0.1 point and 0.05 weight
    assert memory.allocated == 4 * GIB * 3_690_000
    assert memory.cost == {"points": Decimal("410000.000000000000")}
    assert memory.weight == Decimal("205000.000000000000")
    assert (cpu.unrated, cpu.unweighted, memory.unrated) == (0, 0, 0)


def test_a_rate_change_while_running_cuts_the_job_and_each_piece_keeps_its_own_rate(cast):
    make.make_rate(cast.cpu, price=3_000_000, weight=None, start=second(60 + 1800))
    finished(cast, lines=(("cpu", "cpu", 1_000),))
    (cpu,) = use_by_class(Scope(user=cast.member.pk), NOVEMBER)
    # Startup 60 s and half an hour at 1, then half an hour and 30 s of release lag at 3 points a core-hour.
    assert cpu.cost == {"points": Decimal("2041666.666666666667")}
    assert cpu.weight == Decimal("516666.666666666667")
    assert cpu.unweighted == 1_000 * 1_830_000
    assert cpu.unrated == 0


def test_without_a_rate_use_is_unrated_and_never_free(cast, as_user):
    card = make.make_class("gpu-a", Kind.GPU)
    cast.node = make.make_node("n2", cast.cluster, cast.shared, cards=2, card_class=card)
    finished(cast, lines=(("gpu-a", "device", 2 * make.CARD),))
    (gpu,) = use_by_class(Scope(user=cast.member.pk), NOVEMBER)
    assert (gpu.cost, gpu.unrated) == ({}, 2 * make.CARD * 3_690_000)
    page = as_user(cast.member).get("/usage/me").content.decode()
    assert "unrated" in page
    assert "no weight" in page
    assert "0.00" not in page


def test_currencies_are_never_added(cast):
    job = finished(cast, lines=(("cpu", "cpu", 1_000),))
    from resources.services.publish_rate import publish_rate

    publish_rate(
        actor=None,
        resource_class=cast.cpu,
        price_micro=2_000_000,
        weight_micro=1_000_000,
        valid_from=second(4000),
        now=NOW,
        currency="CNY",
    )
    finished(cast, name="later", lines=(("cpu", "cpu", 1_000),), at=4000)
    (cpu,) = use_by_class(Scope(user=cast.member.pk), NOVEMBER)
    assert cpu.cost == {"points": Decimal("1025000.000000000000"), "CNY": Decimal("2050000.000000000000")}
    assert use_by_job(Scope(jobs=[job.pk]), NOVEMBER)[job.pk][0].cost == {"points": Decimal("1025000.000000000000")}


def test_a_window_takes_the_part_of_a_segment_that_lies_in_it(cast):
    shanghai = ZoneInfo("Asia/Shanghai")
    november = window_of("month", NOW, shanghai)
    assert november.start == datetime(2026, 10, 31, 16, 0, tzinfo=UTC)
    job = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED, submitted=NOW)
    start = datetime(2026, 10, 31, 15, 0, tzinfo=UTC)
    # Two hours over the edge, of which one lies in November as Shanghai counts it.
    end = start + timedelta(hours=2)
    make.make_allocation(job, cast.node, [CPU], reserved=start, bound=start, started=start, stopped=end, released=end)
    record_usage(now=NOW)
    (inside,) = use_by_class(Scope(user=cast.member.pk), november)
    assert inside.phases["running"] == 2_000 * 3_600_000
    assert inside.cost == {"points": Decimal("2000000.000000000000")}
    assert use_by_class(Scope(user=cast.member.pk), NOVEMBER) == []


def test_the_days_add_up_to_the_period_exactly(cast):
    finished(cast)
    start = datetime(2026, 11, 28, 22, 20, tzinfo=UTC)
    job = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED, submitted=start)
    end = start + timedelta(hours=7, milliseconds=333)
    make.make_allocation(job, cast.node, [CPU], reserved=start, bound=start, started=start, stopped=end, released=end)
    record_usage(now=NOW)
    scope = Scope(user=cast.member.pk)
    days = NOVEMBER.days(NOW, UTC)
    assert len(days) == 30
    by_day = [uses.get(("cpu", "cpu")) for uses in use_by_day(scope, NOVEMBER, [(a, b) for _, a, b in days])]
    whole = next(use for use in use_by_class(scope, NOVEMBER) if use.class_key == "cpu")
    assert [day.day for (day, _, _), use in zip(days, by_day, strict=True) if use] == [28, 29, 30]
    assert sum(use.allocated for use in by_day if use) == whole.allocated
    assert by_day[27].allocated == 2_000 * 100 * 60_000
    assert abs(sum(use.weight for use in by_day if use) - whole.weight) < Decimal("1E-9")


def test_what_is_still_held_is_computed_up_to_now_and_stands_apart(cast, as_user):
    finished(cast)
    held(cast, bound=NOW - timedelta(minutes=60), started=NOW - timedelta(minutes=50))
    (so_far,) = sum_of(open_pieces(Scope(user=cast.member.pk), NOVEMBER, NOW))
    assert so_far.phases == {"startup": 2_000 * 600_000, "running": 2_000 * 3_000_000, "release_lag": 0}
    assert so_far.cost == {"points": Decimal("2000000.000000000000")}
    # The ledger does not know of it, and the page says which is which.
    final = use_by_class(Scope(user=cast.member.pk), NOVEMBER)
    assert sum(use.allocated for use in final if use.class_key == "cpu") == 2_000 * 3_690_000
    page = as_user(cast.member).get("/usage/me").content.decode()
    panel = page[page.index('data-panel="open"') :]
    assert "So far, not final" in panel
    assert "2.00 points" in panel
    assert "2.46 points" in page[: page.index('data-panel="open"')]


def test_what_was_released_but_not_entered_yet_is_not_lost_between_the_two(cast):
    job = held(
        cast,
        bound=second(0),
        started=second(60),
        stopped=second(3660),
        released=second(3690),
    )
    (so_far,) = sum_of(open_pieces(Scope(jobs=[job.pk]), NOVEMBER, NOW))
    record_usage(now=NOW)
    (final,) = use_by_class(Scope(jobs=[job.pk]), NOVEMBER)
    assert so_far == final
    assert open_pieces(Scope(jobs=[job.pk]), NOVEMBER, NOW) == []


def test_a_leak_counts_as_release_lag_until_now(cast):
    held(
        cast,
        bound=NOW - timedelta(hours=2),
        started=NOW - timedelta(hours=2),
        stopped=NOW - timedelta(minutes=30),
        leaked=NOW - timedelta(minutes=28),
    )
    (so_far,) = sum_of(open_pieces(Scope(user=cast.member.pk), NOVEMBER, NOW))
    assert so_far.phases == {"startup": 0, "running": 2_000 * 90 * 60_000, "release_lag": 2_000 * 30 * 60_000}


def test_what_is_only_reserved_uses_nothing(cast):
    job = make.make_job(cast.alpha, cast.member, state=JobState.ADMITTED)
    make.make_allocation(job, cast.node, [CPU], reserved=NOW - timedelta(hours=1))
    assert open_pieces(Scope(user=cast.member.pk), NOVEMBER, NOW) == []


def test_jobs_are_listed_latest_first_and_sums_by_job_add_up(cast):
    first, second_job = finished(cast, name="first"), finished(cast, name="second", at=900)
    scope = Scope(user=cast.member.pk)
    assert [job.name for job in jobs_that_used(scope, NOVEMBER, limit=10, offset=0)] == ["second", "first"]
    assert [job.name for job in jobs_that_used(scope, NOVEMBER, limit=1, offset=1)] == ["first"]
    by_job = use_by_job(scope, NOVEMBER)
    assert set(by_job) == {first.pk, second_job.pk}
    total = sum(use.weight for uses in by_job.values() for use in uses)
    assert total == sum(use.weight for use in use_by_class(scope, NOVEMBER)) == Decimal("4510000")


def test_projects_are_summed_apart(cast):
    finished(cast)
    finished(cast, project=cast.beta, submitter=cast.outsider)
    finished(cast, project=cast.beta, submitter=cast.outsider, at=900)
    found = use_by_project(Scope(projects=[cast.alpha.pk, cast.beta.pk]), NOVEMBER)
    weights = {key: sum(use.weight for use in uses) for key, uses in found.items()}
    assert weights == {cast.alpha.pk: Decimal("2255000"), cast.beta.pk: Decimal("4510000")}
    assert use_by_project(Scope(projects=[]), NOVEMBER) == {}


# --- pages -----------------------------------------------------------------------------------------


def test_my_usage_shows_natural_units_normalised_hours_and_cost(cast, as_user):
    job = finished(cast, name="train & <b>tune</b>")
    page = as_user(cast.member).get("/usage/me").content.decode()
    for text in ("2.05", "core-hours", "4.1", "GiB·h", "2.25", "2.46 points", "train &amp; &lt;b&gt;tune"):
        assert text in page
    assert f'href="/jobs/{job.pk}"' in page
    assert f'href="/usage/jobs/{job.pk}"' in page


def test_my_usage_is_only_mine(cast, as_user):
    finished(cast, name="by-the-owner", submitter=cast.owner)
    assert "by-the-owner" not in as_user(cast.member).get("/usage/me").content.decode()


def test_the_period_can_be_chosen_and_an_unknown_one_is_refused(cast, as_user):
    finished(cast)
    client = as_user(cast.member)
    for key in ("month", "7d", "30d"):
        assert "2.46 points" in client.get(f"/usage/me?period={key}").content.decode()
    assert "No entry in this period" in client.get("/usage/me?period=last-month").content.decode()
    for bad in ("decade", "'; DROP TABLE x", "%00", "x" * 5000):
        assert client.get("/usage/me", {"period": bad}).status_code == 422


@pytest.mark.parametrize(
    ("role", "sees"),
    [
        ("platform_admin", {"alpha", "beta"}),
        ("auditor", {"alpha", "beta"}),
        ("team_auditor", {"alpha"}),
        ("manager", {"alpha", "beta"}),
        ("lead", {"alpha"}),
        ("owner", {"alpha"}),
        ("member", {"alpha"}),
        ("viewer", {"alpha"}),
        ("outsider", {"beta"}),
        ("pool_admin", set()),
        ("stranger", set()),
    ],
)
def test_usage_by_project_shows_the_projects_whose_usage_one_may_see(cast, as_user, role, sees):
    finished(cast)
    finished(cast, project=cast.beta, submitter=cast.outsider)
    client = as_user(cast.person(role))
    page = client.get("/usage/projects").content.decode()
    assert {slug for slug in ("alpha", "beta") if f"project={slug}" in page} == sees
    for slug in ("alpha", "beta"):
        assert client.get("/usage/projects", {"project": slug}).status_code == (200 if slug in sees else 404)


def test_one_project_shows_its_jobs_and_who_submitted_them(cast, as_user):
    finished(cast, name="by-the-owner", submitter=cast.owner)
    page = as_user(cast.lead).get("/usage/projects?project=alpha").content.decode()
    assert "by-the-owner" in page
    assert "Owner" in page


def test_the_chart_is_data_beside_the_page_and_the_table_says_the_same(cast, as_user):
    finished(cast)
    page = as_user(cast.manager).get("/usage/projects").content.decode()
    assert 'data-plotly="#usage-by-day"' in page
    assert '<script id="usage-by-day" type="application/json">' in page
    assert "The same as a table" in page
    assert "2.05" in page


def test_job_usage_drills_down_to_segments_with_rate_and_cost(cast, as_user):
    job = finished(cast)
    page = as_user(cast.member).get(f"/usage/jobs/{job.pk}").content.decode()
    assert page.count("data-segment=") == 6
    for text in ("Startup", "Running", "Release lag", "2 cores", "4 GiB", "1.00 points", "0.10 points", "n1"):
        assert text in page


@pytest.mark.parametrize(
    ("role", "status"),
    [("member", 200), ("viewer", 200), ("manager", 200), ("outsider", 404), ("stranger", 404), ("pool_admin", 404)],
)
def test_job_usage_is_for_those_who_may_see_the_usage_of_its_project(cast, as_user, role, status):
    job = finished(cast)
    assert as_user(cast.person(role)).get(f"/usage/jobs/{job.pk}").status_code == status


def test_anonymous_readers_are_sent_to_sign_in(cast, client):
    job = finished(cast)
    for path in ("/usage/me", "/usage/projects", f"/usage/jobs/{job.pk}"):
        assert client.get(path)["Location"] == f"/login?next={path}"


def read_csv(response) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode()
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_csv_of_my_usage_is_exact_and_safe_in_a_spreadsheet(cast, as_user):
    finished(cast, name='=HYPERLINK("http://evil")')
    response = as_user(cast.member).get("/usage/me?format=csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert 'filename="my-usage-2026-11-01-2026-11-30.csv"' in response["Content-Disposition"]
    cpu, memory = read_csv(response)
    assert cpu["job"] == '\'=HYPERLINK("http://evil")'
    assert (cpu["class"], cpu["unit"], cpu["running"], cpu["allocated"]) == ("cpu", "core-hours", "2", "2.05")
    assert cpu["allocated_base_unit_ms"] == str(2_000 * 3_690_000)
    assert (cpu["cost"], cpu["currency"], cpu["normalized_hours"]) == ("2.05", "points", "2.05")
    assert (memory["allocated"], memory["cost"]) == ("4.1", "0.41")


def test_csv_of_projects_and_of_segments(cast, as_user):
    job = finished(cast)
    client = as_user(cast.lead)
    rows = read_csv(client.get("/usage/projects?format=csv"))
    assert [(row["project"], row["class"], row["cost"]) for row in rows] == [
        ("Alpha", "cpu", "2.05"),
        ("Alpha", "memory", "0.41"),
    ]
    segments = read_csv(client.get(f"/usage/jobs/{job.pk}?format=csv"))
    assert len(segments) == 6
    assert sum(Decimal(row["cost"]) for row in segments) == Decimal("2.46")
    assert {row["price_per_unit_hour"] for row in segments} == {"1", "0.1"}


def test_usage_pages_speak_both_languages(cast, as_user):
    finished(cast)
    cast.member.language = "zh-hans"
    cast.member.save()
    page = as_user(cast.member).get("/usage/me").content.decode()
    assert '<html lang="zh-Hans">' in page
    assert "cpu 类" in page
