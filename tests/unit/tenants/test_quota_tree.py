"""What cells of the quota tree sum up to: a cell counts once, and by what is below it where that is more."""

import pytest

from tenants.quota_tree import Family, family_of, total


@pytest.mark.parametrize(
    ("cells", "want"),
    [
        ([], 0),
        ([("o.", 8)], 8),
        ([("o.a.", 3), ("o.b.", 4)], 7),
        ([("o.", 8), ("o.a.", 3), ("o.b.", 4)], 8),
        ([("o.", 8), ("o.a.", 6), ("o.b.", 4)], 10),
        ([("o.", None), ("o.a.", 3)], 3),
        ([("o.a.", 2), ("o.a.p.", 5), ("o.b.", 1)], 6),
        ([("o.a.", 0)], 0),
        ([("o.", 9), ("o.a.", None), ("o.a.p.", 4), ("o.a.q.", 6)], 10),
    ],
)
def test_total(cells, want):
    assert total(cells) == want
    assert total(list(reversed(cells))) == want


@pytest.mark.parametrize(
    ("path", "cells", "want"),
    [
        ("o.a.", [("o.a.", 3)], None),
        ("o.a.", [("o.", 8), ("o.a.", 3), ("o.b.", 4)], Family("o.", 8, 7)),
        ("o.a.p.", [("o.", 8), ("o.a.", None), ("o.a.p.", 5), ("o.b.", 4)], Family("o.", 8, 9)),
        ("o.a.p.", [("o.", 8), ("o.a.", 6), ("o.a.p.", 5), ("o.b.", 4)], Family("o.a.", 6, 5)),
        ("o.", [("o.", 8)], None),
    ],
)
def test_family(path, cells, want):
    assert family_of(path, cells) == want
