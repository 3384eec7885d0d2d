"""Templates to start from."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.models import JobTemplate, TemplateVersion
from jobs.selectors.templates import latest_of, newest_version, template_of, templates_visible_to, versions_of
from jobs.services.copy_template import copy_template
from jobs.services.publish_version import publish_version
from jobs.services.restore_template import restore_template
from jobs.services.retire_template import retire_template
from portal.lib.clock import utc_now
from portal.lib.localised import localised
from portal.lib.rest import inputs
from portal.lib.rest.outputs import Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from resources.task_types import TASK_TYPES
from tenants import access
from tenants.models import Project


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


class VersionRow(Shown):
    """One published version and all of its spec."""

    number = serializers.IntegerField()
    published_at = Moment()
    published_by = serializers.CharField(allow_null=True, help_text="null: it comes with the product.")
    spec = Facts()


class CopyBody(inputs.Input):
    """Where the copy belongs and what it is called."""

    project = inputs.key(help_text="Its project; without one it is for everybody.")
    slug = inputs.raw({"type": "string", "maxLength": 63}, required=True, help_text="Its short name; it stays.")
    title = inputs.raw({"type": "string", "minLength": 1, "maxLength": 120}, required=True)
    note = inputs.text(1_000, help_text="Why; kept in the audit trail.")


def _part(what: str) -> inputs.Given:
    return inputs.raw({"type": "object", "additionalProperties": True}, help_text=what)


class VersionBody(inputs.Input):
    """The parts to change; what is left out stays as in the version `base`."""

    base = inputs.whole(1, 1_000_000, required=True, help_text="The newest version, which this was written against.")
    title = _part("Texts by language: en, zh-hans.")
    description = _part("Texts by language: en, zh-hans.")
    params = _part("The parameters as a JSON schema.")
    cpu_milli = _part("default, minimum, maximum.")
    memory_bytes = _part("default, minimum, maximum.")
    devices = _part("default, minimum, maximum.")
    members = _part("default, minimum, maximum.")
    time_limit_ms = _part("default, minimum, maximum.")
    note = inputs.text(1_000, help_text="Why; kept in the audit trail.")


class NoteBody(inputs.Input):
    """Why it is done."""

    note = inputs.text(1_000, help_text="Why; kept in the audit trail.")


TemplatePage = page_of(TemplateRow)
VersionPage = page_of(VersionRow)


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


class Versions(ApiView):
    """The versions of a template."""

    @endpoint(
        "list_template_versions",
        "A template's versions",
        query=PageQuery,
        gives={200: VersionPage},
        refuses=(404,),
    )
    def get(self, request: Request, given: dict[str, Any], slug: str) -> Response:
        """Newest first, also of a retired template."""
        return answer_page(VersionPage, versions_of(template_of(self.actor, slug)), ("-number",), given)

    @endpoint(
        "publish_template_version",
        "Publish a template's next version",
        body=VersionBody,
        gives={201: VersionRow},
        refuses=(404, 409),
    )
    def post(self, request: Request, given: dict[str, Any], slug: str) -> Response:
        """422 names the JSON path of every problem; 409 when `base` is no longer the newest or nothing changes."""
        parts = {name: value for name, value in given.items() if name not in ("base", "note")}
        version = publish_version(
            actor=self.actor,
            template=template_of(self.actor, slug),
            base=given["base"],
            parts=parts,
            now=utc_now(),
            note=given.get("note", ""),
        )
        return answer(VersionRow, version, status=201)


class Copy(ApiView):
    """A template of one's own."""

    @endpoint("copy_template", "Copy a template", body=CopyBody, gives={201: TemplateDetail}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], slug: str) -> Response:
        """Version 1 of the copy: the newest version of the original under another name."""
        source = latest_of(template_of(self.actor, slug))
        project = access.fetch(self.actor, Project, given["project"], "project.see") if "project" in given else None
        version = copy_template(
            actor=self.actor,
            source=source,
            project=project,
            slug=given["slug"],
            title=given["title"],
            now=utc_now(),
            note=given.get("note", ""),
        )
        return answer(TemplateDetail, version, status=201)


class Retire(ApiView):
    """The end of a template."""

    @endpoint("retire_template", "Retire a template", body=NoteBody, gives={200: TemplateDetail}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], slug: str) -> Response:
        """No new job can be made of it; jobs that wait or run go on. Again changes nothing."""
        template = template_of(self.actor, slug)
        retire_template(actor=self.actor, template=template, now=utc_now(), note=given.get("note", ""))
        return answer(TemplateDetail, latest_of(template))


class Restore(ApiView):
    """The return of a template."""

    @endpoint("restore_template", "Restore a template", body=NoteBody, gives={200: TemplateDetail}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], slug: str) -> Response:
        """Jobs can be made of it again. Again changes nothing."""
        template = template_of(self.actor, slug)
        restore_template(actor=self.actor, template=template, now=utc_now(), note=given.get("note", ""))
        return answer(TemplateDetail, latest_of(template))
