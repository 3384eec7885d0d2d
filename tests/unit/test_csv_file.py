"""Cells of a download."""

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

from portal.lib.csv_file import BOM, cell, csv_response


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\n=1"])
def test_text_that_a_spreadsheet_would_run_is_quoted(text):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [-5, Decimal("-1.5"), 0])
def test_numbers_stay_numbers(value):
    assert cell(value) == str(value)


def test_absent_values_are_empty_and_times_are_utc():
    assert cell(None) == ""
    moment = datetime(2026, 11, 30, 20, 0, tzinfo=timezone(timedelta(hours=8)))
    assert cell(moment) == "2026-11-30T12:00:00+00:00"


def test_the_file_begins_with_a_bom_and_quotes_what_csv_needs_quoted():
    response = csv_response("x", ["a", "b"], [["one, two", 'say "hi"']])
    text = b"".join(response.streaming_content).decode()
    assert text == f'{BOM}a,b\r\n"one, two","say ""hi"""\r\n'
    assert response["Content-Disposition"] == 'attachment; filename="x.csv"'
