"""Templates as their readers may use them."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from jobs.models import Artifact, Job, JobTemplate, TemplateVersion
from jobs.models.job import ACTIVE_STATES
from jobs.param_text import text_of
from jobs.params.param import Kind as ParamKind
from jobs.params.param import Param
from jobs.params.schema import Schema, read_schema
from jobs.selectors.lineage import inputs_of
from portal.lib.errors import Conflict, NotFound
from resources.models import Cluster, DataSource
from tenants import access
from tenants.access import Actor
from tenants.models import Project
from tenants.selectors.grants import granted_pool_keys

_NEWEST = Prefetch("versions", TemplateVersion.objects.order_by("-number"), to_attr="newest")


@dataclass(frozen=True, slots=True)
class Choice:
    """An artifact or data source a user may choose: its id and what it is called."""

    id: str
    label: str


def templates_visible_to(user: Actor) -> QuerySet[JobTemplate]:
    """Shipped templates and those of the user's projects, that are not retired, with their newest version."""
    return _visible_to(user).filter(retired_at__isnull=True).prefetch_related(_NEWEST).order_by("-created_at", "slug")


def retired_templates(user: Actor) -> QuerySet[JobTemplate]:
    """Templates the user sees that are out of use, with their newest version, the last retired first."""
    return _visible_to(user).filter(retired_at__isnull=False).prefetch_related(_NEWEST).order_by("-retired_at", "slug")


def template_of(user: Actor, slug: str) -> JobTemplate:
    """A visible template in use or retired, with its newest version. Raises NotFound."""
    rows = _visible_to(user).filter(slug=slug).select_related("project__team").prefetch_related(_NEWEST)
    template = rows.first() if user.is_authenticated else None
    if template is None or not template.newest:
        raise NotFound(f"template {slug}")
    return template


def latest_of(template: JobTemplate) -> TemplateVersion:
    """The newest version of a template that was read with it."""
    versions: list[TemplateVersion] = template.newest  # type: ignore[attr-defined]
    return versions[0]


def newest_version(user: Actor, slug: str) -> TemplateVersion:
    """The newest version of a template jobs can be made of. Raises NotFound, or Conflict for a retired one."""
    template = template_of(user, slug)
    if template.retired_at is not None:
        message = _("Template {slug} is retired: no new job can be made of it. Jobs that run or wait go on.")
        raise Conflict("TemplateRetired", message, facts={"slug": slug, "retired_at": template.retired_at.isoformat()})
    return latest_of(template)


def versions_of(template: JobTemplate) -> QuerySet[TemplateVersion]:
    """All its versions, newest first, with who published them."""
    return TemplateVersion.objects.filter(template=template).select_related("published_by").order_by("-number")


def version_of(template: JobTemplate, number: int) -> TemplateVersion:
    """One version by its number. Raises NotFound."""
    version = versions_of(template).filter(number=number).first()
    if version is None:
        raise NotFound(f"version {number} of {template.slug}")
    return version


def unfinished_of(template: JobTemplate) -> int:
    """How many jobs of the template wait or run."""
    return Job.objects.filter(template_version__template=template, state__in=ACTIVE_STATES).count()


def _visible_to(user: Actor) -> QuerySet[JobTemplate]:
    own = access.visible_projects(user, "template.see").values("pk")
    return JobTemplate.objects.filter(Q(project__isnull=True) | Q(project__in=own))


def schema_of(version: TemplateVersion) -> Schema:
    """The typed parameters of a version."""
    return read_schema(version.spec["params"])


@dataclass(frozen=True, slots=True)
class ParamValue:
    """A parameter as its user knows it; of an artifact also which one it is, with the job that made it."""

    label: str
    text: str
    artifact: Artifact | None = None


def params_of(job: Job) -> list[ParamValue]:
    """The job's parameters in the form's order."""
    schema, typed = schema_of(job.template_version), job.params
    made, language = inputs_of(job), get_language() or "en"
    sources = _source_names(job)
    return [_value(param, typed[param.name], made, sources, language) for param in schema.params if param.name in typed]


def _value(
    param: Param, value: Any, made: Mapping[str, Artifact], sources: Mapping[str, str], language: str
) -> ParamValue:
    if param.kind is ParamKind.ARTIFACT:
        artifact = made.get(value)
        return ParamValue(param.label(language), artifact.name if artifact else value, artifact)
    if param.kind is ParamKind.DATASOURCE:
        return ParamValue(param.label(language), sources.get(value, value))
    return ParamValue(param.label(language), text_of(param, value))


def _source_names(job: Job) -> dict[str, str]:
    keys = [item["artifact"] for item in job.inputs if item.get("kind") == "datasource"]
    rows = DataSource.objects.filter(pk__in=keys).values_list("pk", "name") if keys else []
    return {str(key): name for key, name in rows}


def submittable_projects(user: Actor) -> QuerySet[Project]:
    """Projects the user may submit to, by name."""
    rows = access.visible_projects(user, "job.ask").filter(archived_at__isnull=True).select_related("team")
    return rows.order_by("name", "slug")


def usual_project(user: Actor) -> Project | None:
    """The project of the user's own last job where they may still submit, else the first of all; None without any."""
    rows = submittable_projects(user)
    own = Job.objects.filter(submitter=user.pk, project__in=rows.order_by().values("pk")).order_by("-submitted_at")
    last = own.values_list("project_id", flat=True).first()
    return (rows.filter(pk=last).first() if last else None) or rows.first()


def offered_inputs(version: TemplateVersion, project: Project) -> Mapping[str, list[Choice]]:
    """Per input parameter, what of this project may be chosen, newest first."""
    return {needed["param"]: _choices(needed["kind"], project) for needed in version.spec["inputs"]}


def not_isolated(project: Project, now: datetime) -> list[Cluster]:
    """Clusters behind the project's pools that cannot keep jobs apart: only shipped templates run there."""
    pools = granted_pool_keys(project, now)
    rows = Cluster.objects.filter(nodes__pool__key__in=pools, isolation=False, last_seen_at__isnull=False)
    return list(rows.distinct())


def _choices(kind: str, project: Project) -> list[Choice]:
    if kind == "datasource":
        teams = [uuid.UUID(key) for key in project.team.path.rstrip(".").split(".")]
        sources = DataSource.objects.filter(Q(project=project) | Q(team__in=teams))
        return [Choice(str(s.pk), s.name) for s in sources]
    rows = Artifact.objects.filter(project=project, kind=kind, deleted_at__isnull=True).select_related("job")[:200]
    return [Choice(str(a.pk), f"{a.name} · {a.job.name} {a.job.ref} · {a.created_at:%m-%d %H:%M}") for a in rows]
