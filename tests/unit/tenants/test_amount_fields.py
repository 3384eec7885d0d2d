"""Amounts as people type them: read into base units and written back the same."""

import pytest
from django import forms

from portal.lib.text import BadInput
from portal.web.admin.fields import Count, Devices, Duration, Moment, parse_devices, write_devices

CARD = 42_000


@pytest.mark.parametrize(
    ("text", "parts"), [("8", 8 * CARD), ("0.5", CARD // 2), ("0", 0), ("1.25", 52_500), ("1000000", 1_000_000 * CARD)]
)
def test_cards_are_read_and_written_back(text, parts):
    assert parse_devices(text) == parts and write_devices(parts) == text


@pytest.mark.parametrize("text", ["", "-1", "0.3333", "1e3", "０", "1,5", ".5", "1.", "1000001", "8 ", "nul\0", 8])
def test_what_is_no_number_of_cards_is_refused(text):
    with pytest.raises(BadInput):
        parse_devices(text)


def test_empty_is_no_rule_and_zero_is_none():
    assert Devices(required=False).clean("") is None and Devices(required=False).clean(" 0 ") == 0
    assert Count(required=False).clean("0") == 0 and Duration(required=False).clean("8h") == 28_800_000


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31T23:59", "1999-12-31", "soon", "nul\0"])
def test_a_moment_is_of_this_century(text):
    with pytest.raises(forms.ValidationError):
        Moment().clean(text)
