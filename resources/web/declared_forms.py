"""Fields of the forms for what people declare: runtimes, facts and equivalences of classes, vendor rows, pool rules."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from portal.lib.change_form import CleanText
from portal.lib.localised import listed, localised
from portal.lib.text import BadInput, clean_line
from resources.declared_inputs import (
    DECLARED_READERS,
    DEVICE_KINDS,
    KINDS,
    MEMORY_UNITS,
    UNITS,
    read_amount,
    read_date,
    tolerations_of,
    write_tolerations,
)
from resources.driver_words import driver_word
from resources.drivers.registry import FACTORIES
from resources.inputs import read_key
from resources.models import ClassFact, ResourceClass, Runtime
from resources.models.catalogue import Kind
from resources.task_types import TASK_WORDS
from resources.web.forms import KEY_HELP, line_field, name_field

KIND_WORDS: Final = dict(Kind.choices)
TERA: Final = 10**12


class Several(forms.MultipleChoiceField):
    """Boxes to tick; none ticked stands for every one, and the preview says so."""

    widget = forms.CheckboxSelectMultiple

    def show(self, value: Any) -> str:
        """The words of what is ticked."""
        words = dict(self.choices)  # type: ignore[arg-type]
        return listed(words.get(item, item) for item in value) if value else str(_("every one"))


def read(name: str, label: Any, *, required: bool = False, help_text: Any = "", **more: Any) -> CleanText:
    """A text that the reader of that name cleans."""
    return CleanText(DECLARED_READERS[name], label=label, required=required, help_text=help_text, **more)


class RuntimeForm(forms.Form):
    """What may be changed of a runtime."""

    name_en = name_field(_("Name in English"), required=True)
    name_zh = name_field(_("Name in Chinese"), required=False)
    image = read(
        "image",
        _("Image"),
        help_text=_("With its registry, and best with @sha256: and its digest. Needed on Kubernetes."),
    )
    framework = read("framework", _("Framework"))
    version = read("version", _("Version of the framework"))
    driver_range = read("driver_range", _("Needs device driver"), help_text=_('Bounds such as ">=535, <580".'))
    runtime_class = read("runtime_class", _("RuntimeClass"), help_text=_("Of the cluster; empty: its own choice."))
    kinds = Several(label=_("Kinds"), choices=[(kind, KIND_WORDS[kind]) for kind in KINDS])
    classes = Several(label=_("Resource classes"), required=False, help_text=_("None: every class of these kinds."))
    task_types = Several(
        label=_("Task types"), required=False, choices=list(TASK_WORDS.items()), help_text=_("None: every type.")
    )
    maintainer = line_field(_("Maintainer"))

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        rows = ResourceClass.objects.filter(retired_at__isnull=True, kind__in=KINDS)
        self.fields["classes"].choices = [  # type: ignore[attr-defined]
            (row.key, f"{localised(row.name, row.key)} ({row.key})") for row in rows
        ]


class NewRuntimeForm(RuntimeForm):
    """A runtime that is not there yet."""

    key = CleanText(read_key, label=_("Key"), help_text=KEY_HELP)
    driver_kind = forms.ChoiceField(
        label=_("Kind of cluster"),
        choices=[(kind, driver_word(kind)) for kind in sorted(FACTORIES)],
        help_text=_("Where it runs. It never changes."),
    )
    field_order = ("key", "driver_kind")


class FactForm(forms.Form):
    """A fact of a class."""

    topic = forms.ChoiceField(label=_("Topic"), choices=ClassFact.Topic.choices)
    subject = read(
        "subject",
        _("Of what"),
        help_text=_("Throughput: the precision, such as FP16. Framework or operator: its name and version."),
    )
    amount = CleanText(
        lambda raw: clean_line(raw, maximum=12),
        label=_("How much"),
        required=False,
        help_text=_("Throughput in 10¹² operations a second; devices of an island; NUMA nodes of a host."),
    )
    support = forms.ChoiceField(
        label=_("Support"),
        required=False,
        choices=[("", _("not about support")), *ClassFact.Support.choices],
        help_text=_("Of a framework or operator."),
    )
    source = read("source", _("Source"), required=True, help_text=_("Data sheet, measurement, address."))
    as_of = CleanText(
        lambda raw: read_date(raw).isoformat(),
        label=_("As of"),
        widget=forms.DateInput(attrs={"type": "date"}),
    )

    def clean(self) -> dict[str, Any]:
        """The amount as a whole number of the topic's unit."""
        values = dict(super().clean() or {})
        text = values.get("amount", "")
        if text:
            try:
                values["amount"] = amount_of(text, values.get("topic", ""))
            except BadInput as bad:
                self.add_error("amount", _(bad.template).format_map(bad.facts))
        else:
            values["amount"] = None
        return values


def amount_of(text: str, topic: str) -> int:
    """312.5 of a throughput is 312.5 × 10¹² operations a second; others are whole. Raises BadInput."""
    plain = re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,3})?", text, re.ASCII)
    if not plain:
        return read_amount(0)
    value = Decimal(text) * TERA if topic == ClassFact.Topic.THROUGHPUT else Decimal(text)
    return read_amount(int(value) if value == int(value) else 0)


class EquivalenceForm(forms.Form):
    """What may stand in for a class, for which work, on what grounds, until when."""

    by = forms.ChoiceField(label=_("Jobs may be given"))
    task_type = forms.ChoiceField(label=_("For jobs of type"), choices=list(TASK_WORDS.items()))
    evidence_job = CleanText(
        lambda raw: str(DECLARED_READERS["evidence_job"](raw)),
        label=_("Evidence: a job"),
        required=False,
        help_text=_("Its id, from the address of its page."),
    )
    evidence = read("evidence", _("Evidence in words"), help_text=_("What was measured, and where it can be read."))
    valid_to = forms.DateTimeField(
        label=_("Until"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text=_("It always ends: what was true of two drivers need not be of the next. At most two years."),
    )

    def __init__(self, *args: Any, of: ResourceClass | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        rows = ResourceClass.objects.filter(retired_at__isnull=True, resource="device")
        rows = rows.exclude(pk=of.pk) if of else rows
        self.fields["by"].choices = [  # type: ignore[attr-defined]
            (row.key, f"{localised(row.name, row.key)} ({row.key})") for row in rows
        ]


class VendorRowForm(forms.Form):
    """What a resource name means."""

    pattern = read(
        "pattern",
        _("Resource name"),
        required=True,
        help_text=_('As nodes report it, such as "vendor.example/npu"; one * may stand for a part of it.'),
    )
    vendor = CleanText(
        read_key, label=_("Vendor's key"), help_text=_("a-z, 0-9 and -; one the portal knows or a new one.")
    )
    vendor_name = name_field(_("Vendor's name"), required=True)
    kind = forms.ChoiceField(label=_("Kind"), choices=[(kind, KIND_WORDS[kind]) for kind in DEVICE_KINDS])
    unit = forms.ChoiceField(label=_("One of it is"), choices=[(unit, unit) for unit in UNITS])
    model_label = read("model_label", _("Label with the model"))
    memory_label = read("memory_label", _("Label with the memory"))
    memory_unit = forms.ChoiceField(label=_("Unit of that memory"), choices=[(unit, unit) for unit in MEMORY_UNITS])
    driver_label = read("driver_label", _("Label with the driver's version"))


class PoolRulesForm(forms.Form):
    """Who may use a pool by what they run, and how its pods are written."""

    task_types = Several(
        label=_("Takes jobs of type"),
        required=False,
        choices=list(TASK_WORDS.items()),
        help_text=_("None: every type."),
    )
    runtimes = Several(label=_("Takes jobs in runtime"), required=False, help_text=_("None: every runtime."))
    scheduler_name = read(
        "scheduler_name",
        _("Scheduler of its pods"),
        help_text=_("On Kubernetes; empty: the cluster's own. The portal names the nodes whichever binds."),
    )
    tolerations = CleanText(
        lambda raw: write_tolerations(tolerations_of(raw)),
        label=_("Tolerations of its pods"),
        required=False,
        widget=forms.Textarea,
        help_text=_('One a line, as taints are written: "gpu=yes:NoSchedule", or "gpu:NoSchedule" for any value.'),
    )
    relaxation = forms.ChoiceField(
        label=_("Relaxed control"),
        required=False,
        choices=[
            ("", _("none: pods run as the portal's own user")),
            ("image_user", _("pods run as the user their image names, never as root")),
        ],
        help_text=_("Only a platform administrator may change it. It is shown on every job that runs here."),
    )
    borrowing = forms.BooleanField(
        label=_("Borrowing"),
        required=False,
        help_text=_("Projects may hold what others are entitled to here and do not use, up to their own ceilings."),
    )
    known_driver_only = forms.BooleanField(
        label=_("Refuse unknown drivers"),
        required=False,
        help_text=_("A node whose driver nobody knows takes no job whose runtime states a range of drivers."),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        today: Mapping[str, Any] = options.get("initial") or {}
        kept = set(today.get("runtimes", []))
        rows = Runtime.objects.order_by("key")
        self.fields["runtimes"].choices = [  # type: ignore[attr-defined]
            (row.key, f"{localised(row.name, row.key)} ({row.key})")
            for row in rows
            if row.retired_at is None or row.key in kept
        ]
