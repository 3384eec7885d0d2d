"""Templates to start from."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.models import JobTemplate, TemplateVersion
from jobs.models.template import TASK_TYPES
from jobs.selectors.templates import newest_version, templates_visible_to
from portal.lib.localised import localised
from portal.lib.rest.outputs import Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint


class TemplateRow(Shown):
    """A template by its newest version."""

    slug = serializers.CharField()
    version = serializers.SerializerMethodField()
    task_type = Word("TaskType", TASK_TYPES)
    project = serializers.UUIDField(source="project_id", allow_null=True, help_text="null: shipped with the product.")
    title = serializers.SerializerMethodField()
    description = serializers.SerializerMethodField()

    def get_version(self, template: JobTemplate) -> int:
        """Number of the newest version."""
        return self._newest(template).number

    def get_title(self, template: JobTemplate) -> str:
        """In the language of the request."""
        return localised(self._newest(template).spec["title"])

    def get_description(self, template: JobTemplate) -> str:
        """In the language of the request."""
        return localised(self._newest(template).spec.get("description", {}))

    def _newest(self, template: JobTemplate) -> TemplateVersion:
        newest: list[TemplateVersion] = template.newest  # type: ignore[attr-defined]
        return newest[0]


class Range(Shown):
    """What a job gets unless it says otherwise, and what it may say; inclusive."""

    default = serializers.IntegerField()
    minimum = serializers.IntegerField()
    maximum = serializers.IntegerField()


class TemplateDetail(Shown):
    """One version of a template: its parameters as a JSON schema, and sizes per member in base units."""

    slug = serializers.CharField(source="template.slug")
    version = serializers.IntegerField(source="number")
    task_type = Word("TaskType", TASK_TYPES, source="template.task_type")
    project = serializers.UUIDField(source="template.project_id", allow_null=True)
    published_at = Moment()
    title = serializers.SerializerMethodField()
    description = serializers.SerializerMethodField()
    params = Facts(source="spec.params")
    members = Range(source="spec.members")
    cpu_milli = Range(source="spec.cpu_milli")
    memory_bytes = Range(source="spec.memory_bytes")
    devices = Range(source="spec.devices")
    time_limit_ms = Range(source="spec.time_limit_ms", allow_null=True)
    gang = serializers.BooleanField(source="spec.gang")
    serves = serializers.BooleanField(source="spec.serves")
    checkpoints = serializers.BooleanField(source="spec.checkpoints")
    end_rule = serializers.CharField(source="spec.end_rule")

    def get_title(self, version: TemplateVersion) -> str:
        """In the language of the request."""
        return localised(version.spec["title"])

    def get_description(self, version: TemplateVersion) -> str:
        """In the language of the request."""
        return localised(version.spec["description"])


TemplatePage = page_of(TemplateRow)


class Templates(ApiView):
    """Templates the reader may start from."""

    @endpoint("list_templates", "Templates you may start from", query=PageQuery, gives={200: TemplatePage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first, each by its newest version."""
        rows = templates_visible_to(self.actor).filter(versions__isnull=False).distinct()
        return answer_page(TemplatePage, rows, ("created_at", "id"), given)


class OneTemplate(ApiView):
    """A template."""

    @endpoint("read_template", "A template", gives={200: TemplateDetail}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], slug: str) -> Response:
        """Its newest version with parameters and sizes."""
        return answer(TemplateDetail, newest_version(self.actor, slug))
