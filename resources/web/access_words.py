"""What a page says about connections: rights, features and ends in words."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib import units
from portal.lib.change_form import Change, Effect
from portal.lib.localised import listed
from resources.attaching import Pieces
from resources.drivers.kubernetes.connection import Credential, Right
from resources.drivers.kubernetes.given import describe, ends_at, fingerprint
from resources.drivers.kubernetes.rights import FEATURE_WORDS, Feature, features_of
from resources.models import ClusterCredential
from resources.selectors.connections import AccessCard, ends_word


def right_word(right: Right) -> str:
    """The role's name."""
    return str(ClusterCredential.Right(right).label)


def role_words() -> list[tuple[str, str]]:
    """Every role with its name."""
    return [(right.value, right_word(right)) for right in Right]


def feature_words(features: Iterable[Feature]) -> str:
    """The features, one after the other."""
    return listed(_(FEATURE_WORDS[feature]) for feature in features)


def ends_text(moment: datetime | None) -> str:
    """When it ends, by its own account."""
    return _("ends {moment}").format(moment=_minute(moment)) if moment else _("it does not say when it ends")


def _minute(moment: datetime) -> str:
    return units.time_text(moment, timezone.get_current_timezone(), "minute")


def credential_text(credential: Credential) -> str:
    """What can be told of a credential."""
    kind = _("client certificate") if credential.certificate_pem else _("token")
    return f"{kind} {fingerprint(credential)}, {ends_text(ends_at(credential))}"


def changes_of_pieces(pieces: Pieces) -> list[Change]:
    """What would be kept, as lines of a preview."""
    authority = [f"{one.fingerprint} ({ends_text(one.ends_at)})" for one in describe(pieces.authority_pem)]
    given = [
        Change(_("Credential: {right}").format(right=right_word(right)), "–", credential_text(credential))
        for right, credential in pieces.credentials.items()
    ]
    return [
        Change(_("API server"), "–", pieces.server),
        Change(_("Authority (SHA-256)"), "–", listed(authority) or _("those this machine trusts")),
        *([Change(_("Name in its certificate"), "–", pieces.server_name)] if pieces.server_name else []),
        Change(_("Namespace for jobs"), "–", pieces.namespace),
        *given,
    ]


def effects_of_pieces(pieces: Pieces, now: datetime) -> list[Effect]:
    """What follows from what was given, and from what was not."""
    found = [off_effect(right) for right in Right if right not in pieces.credentials]
    if not pieces.authority_pem:
        text = _("No authority was given: any server whose certificate this machine trusts would be believed.")
        found.append(Effect(text, "warn"))
    ends: Sequence[tuple[str, datetime | None]] = [
        *((_("Authority"), one.ends_at) for one in describe(pieces.authority_pem)),
        *((right_word(right), ends_at(one)) for right, one in pieces.credentials.items()),
    ]
    return [*found, *end_effects(ends, now)]


def off_effect(right: Right) -> Effect:
    """What does not work without a credential for that right."""
    text = _("No credential for {right}. Off until there is one: {features}.")
    return Effect(text.format(right=right_word(right), features=feature_words(features_of(right))), "warn")


def end_effects(ends: Sequence[tuple[str, datetime | None]], now: datetime) -> list[Effect]:
    """A warning for each that has ended or soon will."""
    words = {"soon": _("{what} ends soon: {moment}."), "ended": _("{what} has ended: {moment}.")}
    return [
        Effect(words[word].format(what=what, moment=_minute(moment)), "bad" if word == "ended" else "warn")
        for what, moment in ends
        if moment and (word := ends_word(moment, now))
    ]


def shown_rights(card: AccessCard) -> list[dict[str, object]]:
    """The rights in words, each with what is off without it and what it may do too much."""
    return [
        {
            "row": row,
            "word": right_word(row.right),
            "off": feature_words(row.off),
            "lines": [(line, feature_words([line.feature])) for line in row.lines],
            "too_much": [" ".join(filter(None, (one.verb, one.resource, one.namespace))) for one in row.too_much],
        }
        for row in card.rights
    ]
