"""What the API of tenants takes and shows."""

from typing import Final

from rest_framework import serializers

from portal.lib.rest import inputs
from portal.lib.rest.outputs import Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from portal.lib.text import clean_name
from tenants.roles import Role
from tenants.selectors.audit import RESULTS
from tenants.services.create_token import DAYS, MOST_DAYS

_NAME: Final[inputs.Schema] = {"type": "string", "minLength": 1, "maxLength": 120}
_PASSWORD_LENGTH: Final = 1_024


class NewToken(inputs.Input):
    """A token to make. Without a session, user name and password say whose it will be."""

    name = inputs.Given(clean_name, _NAME, required=True, help_text="What you will know it by.")
    days = inputs.whole(1, MOST_DAYS, default=DAYS, help_text="How long it works.")
    read_only = inputs.flag(help_text="Whether it may only read; false unless said.")  # type: ignore[assignment]
    username = inputs.text(150)
    password = inputs.secret(_PASSWORD_LENGTH)


class AuditQuery(PageQuery):
    """Which records, newest first."""

    verb = inputs.text(60, help_text="The act begins with this.")
    actor = inputs.text(200, help_text="Part of the name of who did it.")
    result = inputs.choice(RESULTS)
    project = inputs.text(200, help_text="Slug or part of the name of the project.")
    team = inputs.text(63, help_text="Slug of a team; what belongs to it or to a team below.")
    target_type = inputs.text(40, help_text="Kind of object, such as Team or Job.")
    text = inputs.text(200, help_text="Part of the object's name, the reason or the note.")
    since = inputs.moment(help_text="From this moment on.")
    until = inputs.moment(help_text="Before this moment.")
    privileged = inputs.flag(help_text="true: only what changed rules, people or the fleet.")


class TokenRow(Shown):
    """A token, by everything but itself."""

    id = serializers.UUIDField(source="key")
    name = serializers.CharField()
    read_only = serializers.BooleanField()  # type: ignore[assignment]
    created_at = Moment(source="created")
    expires_at = Moment(source="expiry")
    last_used_at = Moment(source="last_used", allow_null=True, help_text="To within ten minutes.")


class TokenMade(TokenRow):
    """A token with itself, this once."""

    token = serializers.CharField(help_text="Shown this once; send it as Authorization: Bearer …")


class ServiceToken(Shown):
    """What callers of the project's services must send from their next start on."""

    token = serializers.CharField(help_text="Shown this once.")


class TeamRow(Shown):
    """A team."""

    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    parent = serializers.UUIDField(source="parent_id", allow_null=True)  # type: ignore[assignment]
    contact = serializers.CharField()
    created_at = Moment()


class ProjectTeam(Shown):
    """The team a project belongs to."""

    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()


class ProjectRow(Shown):
    """A project."""

    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    team = ProjectTeam()
    environment = serializers.CharField()
    contact = serializers.CharField()
    held_reason = serializers.CharField(help_text='Why no job of it may start now, "" when none is held back.')
    created_at = Moment()
    archived_at = Moment(allow_null=True)


class AuditRow(Shown):
    """Who did what to what, with which result."""

    seq = serializers.IntegerField()
    at = Moment()
    actor_id = serializers.UUIDField(allow_null=True)
    actor_name = serializers.CharField()
    verb = serializers.CharField()
    result = Word("AuditResult", RESULTS)
    target_type = serializers.CharField()
    target_id = serializers.CharField()
    target_name = serializers.CharField()
    team_id = serializers.UUIDField(allow_null=True)
    project_id = serializers.UUIDField(allow_null=True)
    before = Facts(allow_null=True)
    after = Facts(allow_null=True)
    reason = serializers.CharField()
    note = serializers.CharField()
    request_id = serializers.UUIDField()
    source_ip = serializers.CharField(allow_null=True)
    prev_hash = serializers.CharField()
    hash = serializers.CharField()


class ChainShown(Shown):
    """Whether the newest records hold together."""

    holds = serializers.BooleanField()
    first = serializers.IntegerField()
    last = serializers.IntegerField()
    count = serializers.IntegerField()
    head = serializers.CharField(help_text="The last good hash; kept elsewhere it shows a cut-off end.")
    broken_at = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()


class PersonShown(Shown):
    """An account."""

    id = serializers.UUIDField()
    username = serializers.CharField()
    display_name = serializers.CharField()
    email = serializers.CharField()
    active = serializers.BooleanField(source="is_active")
    last_sign_in_at = Moment(source="last_login", allow_null=True)
    created_at = Moment(source="date_joined")


class PasswordShown(Shown):
    """A password, this once."""

    id = serializers.UUIDField()
    username = serializers.CharField()
    password = serializers.CharField(help_text="Shown this once.")


class MemberPerson(Shown):
    """Who holds a role."""

    id = serializers.UUIDField()
    username = serializers.CharField()
    display_name = serializers.CharField()


class MemberShown(Shown):
    """A role and where it is held: in a project, or in a team and all below it."""

    id = serializers.UUIDField()
    user = MemberPerson()
    role = Word("Role", [role.value for role in Role])
    team = serializers.CharField(source="team.slug", default=None, allow_null=True)
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    created_at = Moment()


class RoleRow(Shown):
    """A role of the permission table."""

    role = Word("Role", [role.value for role in Role])
    held_in = serializers.ListField(child=serializers.CharField())
    permissions = serializers.ListField(child=serializers.CharField())


class RoleTable(Shown):
    """The permission table."""

    results = RoleRow(many=True)


TokenPage = page_of(TokenRow)
MemberPage = page_of(MemberShown)
PersonPage = page_of(PersonShown)
TeamPage = page_of(TeamRow)
ProjectPage = page_of(ProjectRow)
AuditPage = page_of(AuditRow)
