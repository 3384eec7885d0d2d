"""Set how the nodes of a pool come into service (R-10)."""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from resources.inputs import changed, checked
from resources.models import Admission, Node, Pool
from resources.services.restage_nodes import restage_nodes
from resources.stages import Standing
from resources.standing import ground_of_rows
from tenants import access
from tenants.models import Project, User
from tenants.services.record_audit import record_audit

NO_TEMPLATE = _("{slug} is no template that can validate nodes of this pool. It must run on their kind of cluster, "
                "need no parameter, and be in use.")  # fmt: skip
NO_PROJECT = _("Name a project that is granted this pool now: validation jobs run in it and are charged to it.")


@transaction.atomic
def set_pool_admission(
    *,
    actor: User | None,
    pool: Pool,
    admission: str,
    template: str,
    project: Project | None,
    keep_present: bool,
    now: datetime,
    note: str,
    templates_for: Callable[[Pool], Collection[str]],
    projects_for: Callable[[Pool], Collection[Project]],
) -> None:
    """`keep_present` lets nodes that are in service stay there, marked as not verified; else they too must pass.

    `templates_for` and `projects_for` say what may be chosen; the apps that know it are above this one. Whoever
    charges a project must be allowed to ask for jobs in it: Denied. Their name stands on the jobs.
    """
    if actor is not None:
        access.require(actor, "pool.change", pool)
    because = checked(note=note)["note"]
    row = Pool.objects.select_for_update().get(pk=pool.pk)
    validate = admission == Admission.VALIDATE
    if validate:
        _require(actor, row, template, project, templates_for, projects_for)
    before, after = changed(_said(row), _given(admission, template, project) if validate else _given(admission))
    if not after:
        return
    row.admission = admission
    row.validation_template = template if validate else ""
    row.validation_project = project if validate else None
    row.validation_by = actor if validate else None
    row.save(update_fields=["admission", "validation_template", "validation_project", "validation_by"])
    if validate and keep_present:
        _keep(row, now)
    else:
        row.nodes.exclude(trial={}).filter(trial_job__isnull=True).update(trial={})
    keys = list(row.nodes.order_by().values_list("pk", flat=True))
    restage_nodes(nodes=keys, now=now, cause="AdmissionRule", facts={"note": because}, actor=actor)
    after = {**after, **({"keep_present": keep_present} if validate else {})}
    record_audit(actor=actor, verb="pool.admission_set", target=row, before=before, after=after, note=because, now=now)


def _require(
    actor: User | None,
    pool: Pool,
    template: str,
    project: Project | None,
    templates_for: Callable[[Pool], Collection[str]],
    projects_for: Callable[[Pool], Collection[Project]],
) -> None:
    errors = []
    if template not in templates_for(pool):
        errors.append(FieldError("template", "NotATemplate", NO_TEMPLATE, {"slug": template[:63]}))
    if project is None or project not in projects_for(pool):
        errors.append(FieldError("project", "NotAProject", NO_PROJECT, {}))
    if errors:
        raise Invalid.of(*errors)
    if actor is not None and project is not None:
        access.require(actor, "job.ask", project)


def _keep(pool: Pool, now: datetime) -> None:
    """Nodes in service that nothing has proved yet: they stay, and say so."""
    rows = Node.objects.select_for_update(of=("self",), no_key=True).filter(pool=pool, proof={}, standing=Standing.NONE)
    kept = []
    for node in rows.order_by("pk").prefetch_related("groups"):
        node.proof = {"by": "before", "at": now.isoformat(), "facts": ground_of_rows(node, node.groups.all())}
        kept.append(node)
    Node.objects.bulk_update(kept, ["proof"])


def _said(pool: Pool) -> dict[str, Any]:
    return _given(pool.admission, pool.validation_template, pool.validation_project)


def _given(admission: str, template: str = "", project: Project | None = None) -> dict[str, Any]:
    return {"admission": admission, "template": template, "project": project.slug if project else ""}
