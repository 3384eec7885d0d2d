"""New job: the project comes first, is the one used last, and is changed with one click."""

import re

import pytest

from jobs.services.publish_shipped_templates import publish_shipped_templates
from tenants.roles import Role
from tenants.services.grant_role import grant_role
from tests import builders as make
from tests.builders import NOW, ago

PATH = "/templates/run-operation/new"
CHIP = re.compile(r'<a class="fchip" href="([^"]+)"( aria-current="true")?>(\w+) ')


@pytest.fixture
def two(cast):
    """The member may submit to two projects."""
    publish_shipped_templates(now=NOW)
    gamma = make.make_project("gamma", cast.models)
    grant_role(actor=None, user=cast.member, role=Role.MEMBER, scope=gamma, now=NOW)
    return cast, gamma


def chosen(page: str) -> tuple[str, dict[str, str]]:
    """The name of the project in force, and the addresses of the others."""
    found = CHIP.findall(page)
    return next(name for _url, on, name in found if on), {name: url.replace("&amp;", "&") for url, on, name in found}


def test_the_project_comes_first_and_another_is_one_click_away(two, as_user):
    cast, gamma = two
    client = as_user(cast.member)
    page = client.get(PATH).content.decode()
    steps = re.findall(r'<section class="step"><h2>([\w ]+)</h2>', page)
    assert steps[:2] == ["Project", "Name"]
    now, others = chosen(page)
    assert now == "Alpha" and set(others) == {"Alpha", "Gamma"}
    page = client.get(f"{PATH}{others['Gamma']}").content.decode()
    assert chosen(page)[0] == "Gamma" and f'name="project" value="{gamma.pk}"' in page


def test_it_begins_with_the_project_of_ones_own_last_job(two, as_user):
    cast, gamma = two
    make.make_job(cast.alpha, cast.member, submitted=ago(days=2))
    make.make_job(gamma, cast.member, submitted=ago(days=1))
    make.make_job(cast.alpha, cast.owner, submitted=ago(hours=1))
    assert chosen(as_user(cast.member).get(PATH).content.decode())[0] == "Gamma"


def test_a_job_is_run_again_in_its_own_project(two, as_user):
    cast, gamma = two
    lines = (("cpu", "cpu", 1_000), ("memory", "memory", make.GIB))
    first = make.make_job(cast.alpha, cast.member, submitted=ago(days=2), lines=lines)
    make.make_job(gamma, cast.member, submitted=ago(days=1))
    page = as_user(cast.member).get(f"/templates/tests-batch/new?from={first.pk}").content.decode()
    now, others = chosen(page)
    assert now == "Alpha" and f"from={first.pk}" in others["Gamma"]


def test_one_project_is_only_named_and_many_are_a_list(two, as_user):
    cast, _gamma = two
    page = as_user(cast.owner).get(PATH).content.decode()
    assert not CHIP.findall(page) and "Alpha" in page
    for number in range(12):
        more = make.make_project(f"more-{number}", cast.models)
        grant_role(actor=None, user=cast.member, role=Role.MEMBER, scope=more, now=NOW)
    page = as_user(cast.member).get(f"{PATH}?project={more.pk}").content.decode()
    assert 'aria-current="true">More-11' in page
    select = page[page.index('id="project-choice"') :].partition("</select>")[0]
    assert select.count("<option") == 14 - 8
