"""What the lists of the fleet share: filters of the address and their form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.lib.display import Link
from portal.lib.pages import word
from resources.models import Cluster, Node

Text = str | Promise
Option = tuple[str, Text]


@dataclass(frozen=True, slots=True)
class Asked:
    """The filters of the address by name, and the order beside them."""

    values: Mapping[str, str]
    sort: str

    @classmethod
    def of(cls, request: HttpRequest, *names: str) -> "Asked":
        """As the address has them, "" when absent."""
        return cls({name: word(request, name) for name in names}, word(request, "sort", 40))

    def __getitem__(self, name: str) -> str:
        return self.values[name]

    def __bool__(self) -> bool:
        return any(self.values.values())

    def url(self, **changed: str) -> str:
        """The same address with some values changed; its page is the first again."""
        query = {**self.values, "sort": self.sort} | changed
        return f"?{urlencode({name: value for name, value in query.items() if value})}"

    def toggle(self, name: str, value: str, label: Text, count: int | None = None, state: str = "") -> Link:
        """A chip that puts this value on, or takes it off again."""
        on = self.values[name] == value
        return Link(str(label), self.url(**{name: "" if on else value}), count, current=on, state=state)

    def chosen(self, *names: str, words: Mapping[str, Text] | None = None) -> list[Link]:
        """Chips that take a filter of the form off."""
        said = words or {}
        return [
            Link(str(said.get(value, value)), self.url(**{name: ""}), current=True)
            for name in names
            if (value := self.values[name])
        ]


class FacetForm(forms.Form):
    """Filters with too many values for chips: a choice for each, or free text where there are no options."""

    def __init__(self, asked: Asked, fields: Mapping[str, tuple[str, Sequence[Option] | None]]) -> None:
        super().__init__(initial=dict(asked.values))
        for name, (label, options) in fields.items():
            self.fields[name] = (
                forms.CharField(label=label, required=False, max_length=200)
                if options is None
                else forms.ChoiceField(label=label, required=False, choices=[("", _("any")), *options])
            )
        # What the chips chose stays chosen when the form is sent.
        kept = {name: value for name, value in {**asked.values, "sort": asked.sort}.items() if value}
        self.chosen = any(asked.values[name] for name in fields)
        self.kept = [(name, value) for name, value in kept.items() if name not in fields]


def same(values: Iterable[str]) -> list[Option]:
    """Values that are their own words."""
    return [(value, value) for value in values]


def simulated_names(rows: Iterable[Node | Cluster]) -> list[str]:
    """Names of the simulated clusters among these, for the ribbon."""
    clusters = (row.cluster if isinstance(row, Node) else row for row in rows)
    return sorted({cluster.name for cluster in clusters if cluster.simulated})


def csv_url(asked: Asked) -> str:
    """The same list as a file."""
    return asked.url(format="csv")


def wants_csv(request: HttpRequest) -> bool:
    """Whether the address asks for the file."""
    return request.GET.get("format") == "csv"
