"""What the API takes to change teams, projects, roles and accounts. Every change says why, as on the pages."""

from typing import Final

from portal.lib.rest import inputs
from portal.lib.rest.inputs import Given, Input
from portal.lib.rest.paging import PageQuery
from portal.lib.text import clean_line, clean_slug
from tenants.naming import ENVIRONMENTS, LONGEST_CONTACT, LONGEST_NAME, read_contact, read_name
from tenants.roles import Role

_NAME: Final = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
_SLUG: Final = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63}
_CONTACT: Final = {"type": "string", "maxLength": LONGEST_CONTACT}
_USERNAME: Final = {"type": "string", "minLength": 1, "maxLength": 150}
_EMAIL: Final = {"type": "string", "maxLength": 254}


def _role() -> Given:
    options = [role.value for role in Role]
    return Given(inputs.choice(options).parse, {"type": "string", "enum": options}, required=True)


def _username() -> Given:
    return Given(lambda raw: clean_line(raw, maximum=150), _USERNAME, required=True)


class Because(Input):
    """Why something is done."""

    reason = inputs.reason()


class NewTeam(Because):
    """A team below another."""

    parent = inputs.key(required=True, help_text="The team above.")  # type: ignore[assignment]
    name = Given(read_name, _NAME, required=True)
    slug = Given(clean_slug, _SLUG, required=True, help_text="It stays for ever.")
    contact = Given(read_contact, _CONTACT)


class TeamChange(Because):
    """What to change of a team; what is left out stays."""

    name = Given(read_name, _NAME)
    contact = Given(read_contact, _CONTACT)


class NewProject(Because):
    """A project of a team."""

    team = inputs.key(required=True)
    name = Given(read_name, _NAME, required=True)
    slug = Given(clean_slug, _SLUG, required=True, help_text="It stays for ever.")
    environment = inputs.choice(ENVIRONMENTS)
    contact = Given(read_contact, _CONTACT)


class ProjectChange(Because):
    """What to change of a project; what is left out stays."""

    name = Given(read_name, _NAME)
    environment = inputs.choice(ENVIRONMENTS)
    contact = Given(read_contact, _CONTACT)


class NewMember(Because):
    """A role for a person, by the exact user name."""

    username = _username()
    role = _role()


class RoleChange(Because):
    """Another role in the same scope."""

    role = _role()


class NewPerson(Because):
    """A local account."""

    username = _username()
    display_name = Given(read_name, _NAME, required=True)
    email = Given(lambda raw: clean_line(raw, maximum=254), _EMAIL)


class PeopleQuery(PageQuery):
    """Which accounts."""

    q = inputs.text(200, help_text="Part of the user name or name.")
    active = inputs.flag(help_text="true: may sign in; false: blocked.")


class PersonState(Because):
    """Whether somebody may sign in."""

    active = Given(inputs.flag().parse, {"type": "boolean"}, required=True)
