"""What the API of tenants takes and shows."""

from typing import Final

from rest_framework import serializers

from portal.lib.rest import inputs
from portal.lib.rest.outputs import Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from portal.lib.text import clean_name
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
    since = inputs.moment(help_text="From this moment on.")
    until = inputs.moment(help_text="Before this moment.")


class TokenRow(Shown):
    """A token, by everything but itself."""

    id = serializers.UUIDField(source="key")
    name = serializers.CharField()
    read_only = serializers.BooleanField()  # type: ignore[assignment]
    created_at = Moment(source="created")
    expires_at = Moment(source="expiry")


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


TokenPage = page_of(TokenRow)
TeamPage = page_of(TeamRow)
ProjectPage = page_of(ProjectRow)
AuditPage = page_of(AuditRow)
