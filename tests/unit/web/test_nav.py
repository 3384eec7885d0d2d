"""Navigation by role."""

import itertools
from typing import Any

from portal.web.nav import BY_ROLE, MOST, SECTIONS, main_role, nav_for, tabs_for
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
    assert items == ["/home/", "/node_list/", "/job_list/", "/template_list/", "/audit_list/", "/my_usage/"]


def test_a_page_with_an_entry_of_its_own_lights_that_one_only() -> None:
    for current in ("job_list", "node_list", "my_usage"):
        items = nav_for({Role.MEMBER, Role.PLATFORM_ADMIN}, current)
        assert [item.url for item in items if item.current] == [f"/{current}/"]


def test_the_tabs_of_a_section_are_those_one_may_open_and_only_on_its_lists() -> None:
    assert [tab.url for tab in tabs_for({Role.PLATFORM_ADMIN}, "node_list")] == []  # the one list there is here
    tabs = tabs_for({Role.MEMBER}, "my_usage")
    assert tabs == [] or all(tab.url for tab in tabs)
    assert tabs_for({Role.MEMBER}, "job_detail") == []
    names = [name for section in SECTIONS for name in section.pages]
    assert len(names) == len(set(names)), "a page belongs to one section"


def test_pages_of_a_stage_that_is_off_are_not_offered(settings: Any) -> None:
    settings.STAGES = "see"
    urls = [item.url for item in nav_for({Role.MEMBER, Role.PLATFORM_ADMIN}, "home")]
    assert urls == ["/home/", "/node_list/", "/audit_list/"]


def test_no_combination_of_roles_has_more_than_eight_entries() -> None:
    for roles in itertools.combinations(Role, 3):
        assert len(nav_for(roles, "")) <= MOST, roles


def test_nobody_is_offered_nothing() -> None:
    assert nav_for((), "home") == []
    assert main_role(()) is None


def test_every_role_has_entries_and_a_word(language: str) -> None:
    assert set(BY_ROLE) == set(ROLE_WORDS) == set(Role)
    assert main_role({Role.MEMBER, Role.LEAD}) is Role.LEAD
