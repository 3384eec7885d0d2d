"""Words of the audit trail in templates."""

from django import template
from django.utils.functional import Promise

from tenants.audit_words import TARGET_WORDS, word_of

register = template.Library()


@register.filter
def verb_word(verb: str) -> str | Promise:
    """An act in words; the raw key stands in the title beside it."""
    return word_of(verb)


@register.filter
def target_word(kind: str) -> str | Promise:
    """A kind of object in words."""
    return TARGET_WORDS.get(kind, kind)
