"""Fields of the fleet's forms. They hold no rules: the services decide, and their refusals stand beside the fields."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.lib.change_form import CleanText
from portal.lib.localised import listed
from portal.lib.text import clean_line, clean_name
from resources.declared_inputs import DECLARED_READERS, read_labels
from resources.inputs import LONGEST_LINE, LONGEST_NAME, MATCHABLE, read_key
from resources.models import CostBasis
from resources.models.catalogue import Kind
from resources.pairs import pairs_of, read_pairs, write_pairs
from resources.quantities import parse_memory, write_memory

NAMED: Final = 10
KEY_HELP: Final = _("In addresses and in the API. It never changes: a-z, 0-9 and -.")


def name_field(label: Any, *, required: bool) -> CleanText:
    """A name on one line."""
    return CleanText(lambda raw: clean_name(raw, maximum=LONGEST_NAME), label=label, required=required)


def line_field(label: Any, help_text: Any = "") -> CleanText:
    """A line that may stay empty."""
    return CleanText(
        lambda raw: clean_line(raw, maximum=LONGEST_LINE), label=label, required=False, help_text=help_text
    )


def _key() -> CleanText:
    return CleanText(read_key, label=_("Key"), help_text=KEY_HELP)


def _pairs(label: Any, help_text: Any, allowed: Iterable[str] = ()) -> CleanText:
    return CleanText(
        lambda raw: read_pairs(raw, allowed), label=label, required=False, help_text=help_text, widget=forms.Textarea
    )


class PoolForm(forms.Form):
    """What may be changed of a pool."""

    name_en = name_field(_("Name in English"), required=True)
    name_zh = name_field(_("Name in Chinese"), required=False)
    selector = _pairs(
        _("Selector"),
        _("One label=value a line; cluster=key names a cluster. All must match. Empty selects nothing."),
    )
    purpose = CleanText(
        DECLARED_READERS["purpose"], label=_("Purpose"), required=False, help_text=_("What it is for, in a sentence.")
    )
    labels = CleanText(
        lambda raw: write_pairs(read_labels(pairs_of(raw))),
        label=_("Labels"),
        required=False,
        widget=forms.Textarea,
        help_text=_("A few words about the pool, one name=value a line, at most five. They place nothing."),
    )
    owner = forms.ChoiceField(label=_("Belongs to"), required=False)
    maintainer = line_field(_("Maintainer"), _("Whom to ask; shown to everybody who may use the pool."))

    def __init__(self, *args: Any, owners: Sequence[tuple[str, Any]] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["owner"].choices = owners  # type: ignore[attr-defined]


class NewPoolForm(PoolForm):
    """A pool that is not there yet."""

    key = _key()
    field_order = ("key", "name_en", "name_zh", "selector", "purpose", "labels", "owner", "maintainer")


class ClassForm(forms.Form):
    """What may be changed of a resource class."""

    name_en = name_field(_("Name in English"), required=True)
    name_zh = name_field(_("Name in Chinese"), required=False)
    match = _pairs(
        _("Match rule"),
        _("One fact=value a line; facts are resource_name, vendor, kind and model. Empty takes nothing."),
        MATCHABLE,
    )
    memory = CleanText(
        lambda raw: write_memory(parse_memory(raw)),
        label=_("Memory of one device"),
        required=False,
        help_text=_("Such as 80Gi; empty where it has none."),
    )
    maintainer = line_field(_("Maintainer"))


class NewClassForm(ClassForm):
    """A class that is not there yet."""

    key = _key()
    kind = forms.ChoiceField(label=_("Kind"), choices=Kind.choices, help_text=_("Decides the unit. It never changes."))
    field_order = ("key", "kind", "name_en", "name_zh", "match", "memory", "maintainer")


class HoldForm(forms.Form):
    """Closing a node: for the portal's jobs, and if wished for everybody's. `off` is why that cannot be had."""

    on_cluster = forms.BooleanField(
        label=_("Also on the cluster"),
        required=False,
        help_text=_("Its cluster then places nothing new there for others either. The steward's credential is used."),
    )

    def __init__(self, *args: Any, off: Any = "", **options: Any) -> None:
        super().__init__(*args, **options)
        if off:
            field = self.fields["on_cluster"]
            field.disabled, field.help_text = True, _("Off: {why}").format(why=off)


class ClusterForm(forms.Form):
    """What may be changed of a cluster."""

    name = name_field(_("Name"), required=True)
    location = line_field(_("Location"))
    maintainer = line_field(_("Maintainer"))


class ChangedClusterForm(ClusterForm):
    """One that is there."""

    cost_basis = forms.ChoiceField(label=_("Cost basis"), choices=CostBasis.choices)


class NewClusterForm(ClusterForm):
    """A cluster that is not there yet."""

    key = _key()
    field_order = ("key", "name", "location", "maintainer")


def names_of(values: Mapping[str, Any]) -> dict[str, str]:
    """The names of a form in both languages, as they are stored."""
    given = {"en": values["name_en"], "zh-hans": values["name_zh"]}
    return {code: name for code, name in given.items() if name}


def today_of_names(name: Mapping[str, str]) -> dict[str, str]:
    """The stored names as a form's values."""
    return {"name_en": name.get("en", ""), "name_zh": name.get("zh-hans", "")}


def some(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    found: Sequence[str] = list(names)
    rest = len(found) - NAMED
    shown = listed(found[:NAMED])
    return _("{names} and {n} more").format(names=shown, n=rest) if rest > 0 else shown
