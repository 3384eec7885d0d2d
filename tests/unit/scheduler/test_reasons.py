"""The catalogue of reasons is complete: constants, sentences in both languages, facts and documentation."""

import gettext
import re
from pathlib import Path

from jobs.reasons import FACTS, Fact, Kind, Reason

CATALOGUE = Path(__file__).parents[3] / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.mo"
NAMES = re.compile(r"\{(\w+)\}")


def translations() -> dict[str, str]:
    """msgid to Chinese, of the catalogue that is shipped."""
    with CATALOGUE.open("rb") as file:
        return {k: v for k, v in gettext.GNUTranslations(file)._catalog.items() if isinstance(k, str)}


def test_a_reason_is_a_pascal_case_constant_that_can_be_read_back() -> None:
    for reason in Reason:
        assert re.fullmatch(r"([A-Z][a-z]+)+", reason.value)
        assert Reason(reason.value) is reason
        assert str(reason) == reason.value


def test_every_reason_is_documented_and_speaks() -> None:
    for reason in Reason:
        assert reason.doc.endswith(".") and len(reason.doc) > 20, reason
        assert reason.message[0].isupper() or reason.message[0] == "{", reason
        assert reason.doc != reason.message, reason


def test_every_placeholder_has_a_known_meaning() -> None:
    for reason in Reason:
        assert reason.placeholders <= FACTS.keys(), reason
        kinds = {FACTS[name] for name in reason.placeholders}
        assert ("resource" in reason.required_facts) == (Fact.AMOUNT in kinds), reason
        assert (Fact.UNIT in kinds) <= (Fact.AMOUNT in kinds), f"{reason}: a unit without an amount"
        assert "u" not in reason.required_facts, reason


def test_every_sentence_has_a_translation_with_the_same_placeholders() -> None:
    shipped = translations()
    for reason in Reason:
        chinese = shipped[reason.message]
        assert re.search(r"[\u4e00-\u9fff]", chinese), reason
        # A unit may be said once more or once less; everything else exactly.
        assert set(NAMES.findall(chinese)) - {"u"} == reason.placeholders - {"u"}, reason


def test_no_fact_is_declared_that_no_reason_uses() -> None:
    assert set().union(*(reason.placeholders for reason in Reason)) == FACTS.keys()


def test_no_two_reasons_share_a_sentence_or_a_code() -> None:
    codes = [reason.code for reason in Reason if reason.code]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[QSAEFR]\d\d", code) for code in codes)
    assert len({reason.message for reason in Reason}) == len(Reason)


def test_the_codes_say_what_kind_of_reason_it_is() -> None:
    letters = {"E": {Kind.END, Kind.FAILURE}, "F": {Kind.FAILURE}, "R": {Kind.RELEASE}}
    for reason in Reason:
        if reason.code[:1] in letters:
            assert reason.kind in letters[reason.code[0]], reason
