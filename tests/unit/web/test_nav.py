"""Navigation by role."""

import itertools

import pytest

from portal.web.nav import BY_ROLE, MOST, main_role, nav_for
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role


def test_only_pages_that_exist_are_offered() -> None:
    urls = [item.url for item in nav_for({Role.MEMBER}, "home")]
    assert urls == ["/home/", "/template_list/", "/job_list/", "/my_usage/"]


def test_a_detail_page_lights_up_its_list() -> None:
    items = nav_for({Role.MEMBER}, "job_detail")
    assert [item.url for item in items if item.current] == ["/job_list/"]


def test_several_roles_give_the_union_without_repeats() -> None:
    items = [item.url for item in nav_for({Role.MEMBER, Role.PLATFORM_ADMIN}, "")]
    assert items == ["/home/", "/node_list/", "/job_list/", "/audit_list/", "/template_list/", "/my_usage/"]


@pytest.mark.parametrize("roles", list(itertools.combinations(Role, 3)))
def test_no_combination_of_roles_has_more_than_eight_entries(roles: tuple[Role, ...]) -> None:
    assert len(nav_for(roles, "")) <= MOST


def test_nobody_is_offered_nothing() -> None:
    assert nav_for((), "home") == []
    assert main_role(()) is None


def test_every_role_has_entries_and_a_word(language: str) -> None:
    assert set(BY_ROLE) == set(ROLE_WORDS) == set(Role)
    assert main_role({Role.MEMBER, Role.LEAD}) is Role.LEAD
