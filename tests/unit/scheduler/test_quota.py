"""The quota tree: bounds at every level, guarantees, lending."""

import pytest

from jobs.reasons import Reason
from jobs.scheduler.block import Block, Words
from jobs.scheduler.quota import QuotaBook
from jobs.scheduler.snapshot import WHOLE_DEVICE, Line
from jobs.states import AllocationState
from tests.scenarios.given import CARDS, CPU, Given


def tree(lending: bool = False) -> Given:
    """org > alpha > (a1, a2), org > beta > b1, and a host to hold things on."""
    given = Given().pool("train", borrowing=lending).host("n1", 64, 640)
    given.tenant("alpha").tenant("beta")
    return given.tenant("a1", "alpha").tenant("a2", "alpha").tenant("b1", "beta")


def book(given: Given, *, unused: bool = False) -> QuotaBook:
    snapshot = given.snapshot()
    return QuotaBook(snapshot, Words(snapshot.classes), unused=unused)


def ask(given: Given, tenant: str, cards: float) -> Block | None:
    return book(given).check(tenant, "train", [Line(CARDS, round(cards * WHOLE_DEVICE))])


def ask_ever(given: Given, tenant: str, cards: float) -> Block | None:
    return book(given, unused=True).check_ever(tenant, "train", [Line(CARDS, round(cards * WHOLE_DEVICE))])


def cards(block: Block | None, name: str) -> float:
    assert block is not None
    return block.facts[name] / WHOLE_DEVICE


def test_no_rule_is_no_bound_and_zero_is_none_allowed() -> None:
    assert ask(tree(), "a1", 1000) is None
    assert ask(tree().quota("a1", nominal=0), "a1", 1) is not None
    assert ask(tree().quota("a1", ceiling=0), "a1", 1) is not None


def test_nominal_quota_is_filled_to_the_last_part_and_not_beyond() -> None:
    given = tree().quota("a1", nominal=8).running("r", "n1", 6, tenant="a1")
    assert ask(given, "a1", 2) is None
    over = ask(given, "a1", 2.5)
    assert over is not None and over.reason is Reason.QUOTA_FULL
    assert (cards(over, "used"), cards(over, "nominal"), cards(over, "have")) == (6, 8, 2)
    assert (cards(over, "need"), cards(over, "short_by")) == (2.5, 0.5)
    assert over.facts["project"] == "A1" and over.facts["res"] == "A100"


def test_a_quota_lowered_below_what_is_held_leaves_nothing_and_never_less() -> None:
    over = ask(tree().quota("a1", nominal=2).running("r", "n1", 6, tenant="a1"), "a1", 1)
    assert (cards(over, "have"), cards(over, "used"), cards(over, "short_by")) == (0, 6, 1)
    over = ask(tree(lending=True).quota("a1", nominal=2).running("r", "n1", 6, tenant="a1"), "a1", 1)
    assert (cards(over, "have"), cards(over, "idle")) == (0, 0)


@pytest.mark.parametrize("level", ["a1", "alpha", "org"])
def test_every_level_up_to_the_root_is_asked(level: str) -> None:
    given = tree().quota(level, nominal=8).running("r", "n1", 8, tenant="a1")
    block = ask(given, "a1", 1)
    assert block is not None and block.tenant == level


def test_a_sibling_is_not_bound_by_my_rule_but_shares_the_teams() -> None:
    given = tree().quota("a1", nominal=1).quota("alpha", nominal=8).running("r", "n1", 6, tenant="a2")
    assert ask(given, "a2", 2) is None
    block = ask(given, "a2", 3)
    assert block is not None and block.tenant == "alpha"
    assert ask(given, "b1", 50) is None


def test_other_pools_and_other_axes_are_counted_apart() -> None:
    given = tree().pool("spare").host("m1", 8, pool="spare")
    given.quota("a1", nominal=1).running("r", "m1", 8, tenant="a1")
    assert ask(given, "a1", 1) is None
    assert book(given.quota("a1", nominal=500, axis=CPU)).check("a1", "train", [Line(CPU, 501)]) is not None


def test_what_leaked_holds_no_quota_and_what_is_being_released_does() -> None:
    given = tree().quota("a1", nominal=8)
    given.running("gone", "n1", 8, tenant="a1", state=AllocationState.LEAKED)
    assert ask(given, "a1", 8) is None
    given.running("going", "n1", 8, tenant="a1", state=AllocationState.RELEASING)
    assert ask(given, "a1", 1) is not None


def test_what_is_given_back_can_be_taken_again() -> None:
    given = tree().quota("alpha", guarantee=2, nominal=8)
    counted = book(given)
    lines = [Line(CARDS, 8 * WHOLE_DEVICE)]
    counted.charge("a1", "train", lines)
    assert not counted.allows("a2", "train", [Line(CARDS, 1)])
    counted.charge("a1", "train", lines, -1)
    assert counted.allows("a2", "train", lines)


def test_more_than_nominal_is_never_where_the_pool_does_not_lend() -> None:
    block = ask_ever(tree().quota("a1", nominal=8, ceiling=16), "a1", 12)
    assert block is not None and block.reason is Reason.BORROWING_OFF and cards(block, "max") == 8


def test_more_than_the_ceiling_is_never_wherever_the_pool_lends() -> None:
    given = tree(lending=True).quota("a1", nominal=8, ceiling=16).quota("b1", nominal=32)
    assert ask_ever(given, "a1", 16) is None
    block = ask_ever(given, "a1", 17)
    assert block is not None and block.reason is Reason.ABOVE_CEILING and cards(block, "max") == 16


def test_never_does_not_depend_on_what_is_held() -> None:
    given = tree().quota("a1", nominal=8).running("r", "n1", 8, tenant="a1")
    assert ask(given, "a1", 8) is not None
    assert ask_ever(given, "a1", 8) is None


class TestLending:
    def test_idle_nominal_quota_of_a_neighbour_can_be_borrowed(self) -> None:
        given = tree(lending=True).quota("a1", nominal=8).quota("b1", nominal=8)
        assert ask(given, "a1", 16) is None
        assert ask(tree().quota("a1", nominal=8).quota("b1", nominal=8), "a1", 9) is not None

    def test_nothing_is_borrowed_that_nobody_owns(self) -> None:
        given = tree(lending=True).quota("a1", nominal=8).quota("b1", nominal=8)
        given.running("r", "n1", 8, tenant="b1")
        assert ask(given, "a1", 8) is None
        block = ask(given, "a1", 9)
        assert block is not None and block.reason is Reason.NOTHING_TO_BORROW
        assert (cards(block, "idle"), block.facts["group"]) == (8, "Org")

    def test_a_neighbour_without_a_rule_neither_lends_nor_counts(self) -> None:
        given = tree(lending=True).quota("a1", nominal=8).running("r", "n1", 30, tenant="b1")
        assert ask(given, "a1", 8) is None
        assert ask(given, "a1", 9) is not None

    def test_a_guarantee_is_never_lent(self) -> None:
        given = tree(lending=True).quota("a1", nominal=8).quota("b1", guarantee=6, nominal=8)
        assert ask(given, "a1", 10) is None
        block = ask(given, "a1", 11)
        assert block is not None and block.reason is Reason.LENDER_KEEPS
        assert (cards(block, "have"), cards(block, "idle")) == (10, 16)

    def test_the_owner_of_a_guarantee_gets_it_whatever_the_others_hold(self) -> None:
        given = tree(lending=True).quota("a1", nominal=8).quota("b1", guarantee=6, nominal=8)
        given.running("r", "n1", 10, tenant="a1")
        assert ask(given, "b1", 6) is None
        block = ask(given, "b1", 7)
        assert block is not None and block.reason is Reason.NOTHING_TO_BORROW

    def test_the_ceiling_bounds_what_is_borrowed(self) -> None:
        given = tree(lending=True).quota("a1", nominal=8, ceiling=10).quota("b1", nominal=8)
        given.running("r", "n1", 8, tenant="a1")
        block = ask(given, "a1", 3)
        assert block is not None and block.reason is Reason.CEILING_REACHED and cards(block, "max") == 10

    def test_the_root_borrows_from_nobody(self) -> None:
        given = tree(lending=True).quota("org", nominal=8, ceiling=16).quota("a1", nominal=4)
        assert ask(given, "a1", 8) is None
        block = ask(given, "a1", 9)
        assert block is not None and (block.reason, block.tenant) == (Reason.QUOTA_FULL, "org")

    def test_only_the_topmost_owners_make_the_group(self) -> None:
        given = tree(lending=True).quota("alpha", nominal=8).quota("a1", nominal=6).quota("b1", nominal=4)
        assert ask(given, "a1", 12) is None  # alpha's 8 and b1's 4; a1's 6 are part of alpha's
        assert ask(given, "a1", 13) is not None


class TestGuaranteesWithoutLending:
    def test_a_sibling_without_a_rule_cannot_use_a_guarantee_up(self) -> None:
        given = tree().quota("alpha", nominal=10).quota("a1", guarantee=4, nominal=4)
        assert ask(given, "a2", 6) is None
        block = ask(given, "a2", 7)
        assert block is not None and block.reason is Reason.LENDER_KEEPS and cards(block, "have") == 6
        assert ask(given.running("r", "n1", 6, tenant="a2"), "a1", 4) is None

    def test_a_guarantee_within_a_guarantee_is_counted_once(self) -> None:
        given = tree().quota("org", nominal=10).quota("alpha", guarantee=6, nominal=10).quota("a1", guarantee=4)
        assert ask(given, "b1", 4) is None
        assert ask(given, "b1", 5) is not None

    def test_never_counts_the_guarantees_of_others(self) -> None:
        given = tree().quota("alpha", nominal=10).quota("a1", guarantee=4, nominal=4)
        block = ask_ever(given, "a2", 7)
        assert block is not None and cards(block, "max") == 6
        assert ask_ever(given, "a2", 6) is None


def test_a_circle_of_tenants_is_refused() -> None:
    given = Given().pool("train")
    given.tenants = []
    given.tenant("a", "b").tenant("b", "a")
    with pytest.raises(ValueError, match="own ancestor"):
        book(given)


def test_an_unknown_tenant_has_no_rules() -> None:
    assert ask(tree(), "nobody", 99) is None
