"""The four stages of growth (R-44): which are on here, and which pages belong to each.

A page that belongs to no stage below is part of the first, which is always on.
"""

from enum import StrEnum

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.lib.errors import NotFound


class Stage(StrEnum):
    """In the order they build on each other."""

    SEE = "see"
    RUN = "run"
    SHARE = "share"
    SPAN = "span"


WORDS: dict[Stage, tuple[str | Promise, str | Promise]] = {
    Stage.SEE: (
        pgettext_lazy("stage", "See"),
        _("One inventory of every cluster, with the age of what is known. Nothing is changed anywhere."),
    ),
    Stage.RUN: (
        pgettext_lazy("stage", "Run"),
        _("Submit from a template, schedule, watch, and prove what was given back."),
    ),
    Stage.SHARE: (
        pgettext_lazy("stage", "Share"),
        _("Several teams on one pool: grants, quotas, queues, priorities, and who used what."),
    ),
    Stage.SPAN: (
        pgettext_lazy("stage", "Span"),
        _("Several clusters as one: placement across them, lending between teams, topology."),
    ),
}

_RUN = (
    "template_list template_detail template_new template_edit job_new job_preview job_list job_detail job_status "
    "job_stream job_log job_log_download job_file job_cancel service_list service_token artifact_list queue_page "
    "api_templates api_template api_jobs api_job_preview api_job api_job_events api_job_artifacts api_job_log "
    "api_job_cancel api_service_token"
)
_SHARE = "my_usage usage_by_project job_usage request_list request_detail api_my_usage api_project_usage"
STAGE_OF_PAGE: dict[str, Stage] = {
    **dict.fromkeys(_RUN.split(), Stage.RUN),
    **dict.fromkeys(_SHARE.split(), Stage.SHARE),
}


def is_on(stage: Stage) -> bool:
    """Whether the stage and with it all below are on, by `PORTAL_STAGES`."""
    order = list(Stage)
    return order.index(stage) <= order.index(Stage(settings.STAGES))


def page_is_on(name: str) -> bool:
    """Whether the page of this URL name belongs to a stage that is on."""
    return is_on(STAGE_OF_PAGE.get(name, Stage.SEE))


def require_page(name: str) -> None:
    """Raise NotFound, which says that the stage is off, for a page of a stage that is off."""
    if not page_is_on(name):
        raise StageOff(STAGE_OF_PAGE[name])


class StageOff(NotFound):
    """The page is there, but its stage is off in this installation."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(f"stage {stage} is off")
        self.reason = "StageOff"
        self.message = _('The stage "{stage}" is switched off in this installation.')
        self.facts = {"stage": str(WORDS[stage][0])}
