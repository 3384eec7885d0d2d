"""Values of parameters in words: nobody has to divide 1756 minutes by sixty."""

import pytest
from django.utils import translation

from jobs.param_text import default_text, text_of
from jobs.params.param import Kind, Param

GIB = 1 << 30


@pytest.mark.parametrize(
    ("param", "value", "want"),
    [
        (Param("lasts", Kind.DURATION), 1_756 * 60_000, "1 d 5 h"),
        (Param("lasts", Kind.DURATION), 254 * 60_000, "4 h 14 min"),
        (Param("cpu", Kind.QUANTITY, resource="cpu"), 8_000, "8 cores"),
        (Param("memory", Kind.QUANTITY, resource="memory"), 3 * GIB, "3 GiB"),
        (Param("on", Kind.BOOLEAN), True, "yes"),
        (Param("how", Kind.CHOICE, options=("a",), labels={"a": {"en": "By hand"}}), "a", "By hand"),
        (Param("rate", Kind.NUMBER, unit={"en": "per second"}), 0.5, "0.5 per second"),
    ],
)
def test_a_value_reads_as_elsewhere(param, value, want):
    with translation.override("en"):
        assert text_of(param, value) == want


def test_a_default_is_said_the_same_way():
    lasts = Param("lasts", Kind.DURATION, default="20m", minimum=1_000, maximum=10**9)
    with translation.override("en"):
        assert default_text(lasts) == "20 min" and default_text(Param("lasts", Kind.DURATION)) == ""
