"""Forms of teams, projects, members and people. They read text strictly and hold no rules: the services decide."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.lib.change_form import CleanText
from portal.lib.text import clean_line, clean_slug
from tenants.naming import LONGEST_NAME, read_contact, read_name
from tenants.web.parts import environments

Choices = Iterable[tuple[str, str | Promise]]
SLUG_HELP = _("Lower-case letters, digits and hyphens; it stays for ever and stands in addresses.")
CONTACT_HELP = _("Whom to ask; a denial names it. Empty: the lead or owner.")


def name_field() -> CleanText:
    """A display name."""
    return CleanText(read_name, label=_("Name"), widget=forms.TextInput(attrs={"maxlength": LONGEST_NAME}))


def slug_field() -> CleanText:
    """A short name for addresses."""
    return CleanText(clean_slug, label=_("Short name"), help_text=SLUG_HELP)


def contact_field() -> CleanText:
    """Whom to ask."""
    return CleanText(read_contact, label=_("Contact"), help_text=CONTACT_HELP, required=False)


class TeamForm(forms.Form):
    """What can be changed of a team."""

    name = name_field()
    contact = contact_field()


class NewTeamForm(forms.Form):
    """A team below another."""

    name = name_field()
    slug = slug_field()
    contact = contact_field()


class ProjectForm(forms.Form):
    """What can be changed of a project."""

    name = name_field()
    environment = forms.ChoiceField(label=_("Environment"))
    contact = contact_field()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["environment"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(environments(str((self.initial or {}).get("environment", ""))))


class NewProjectForm(ProjectForm):
    """A project of a team."""

    slug = slug_field()
    field_order = ("name", "slug", "environment", "contact")


class RoleForm(forms.Form):
    """Another role in the same scope."""

    role = forms.ChoiceField(label=_("Role"))

    def __init__(self, *args: Any, roles: Choices, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(roles)


class MemberForm(RoleForm):
    """A person by the exact user name, and a role. None is chosen beforehand: what is given is given on purpose."""

    username = CleanText(
        lambda raw: clean_line(raw, maximum=150), label=_("User name"), help_text=_("Exactly as they sign in.")
    )
    field_order = ("username", "role")

    def __init__(self, *args: Any, roles: Choices, **kwargs: Any) -> None:
        super().__init__(*args, roles=[("", _("choose a role")), *roles], **kwargs)


class PersonForm(forms.Form):
    """A local account."""

    username = CleanText(
        lambda raw: clean_line(raw, maximum=63),
        label=_("User name"),
        help_text=_("Lower-case letters, digits, dots, hyphens and underscores."),
    )
    display_name = CleanText(read_name, label=_("Name"))
    email = forms.EmailField(label=_("E-mail"), required=False, max_length=254)
