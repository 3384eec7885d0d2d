"""Pages of jobs."""

from django.urls import URLPattern, path

from jobs.web import (
    actions,
    artifacts,
    detail,
    files,
    lists,
    logs,
    matrix,
    queue,
    submit,
    template_admin,
    templates,
    unblock,
)

urlpatterns: list[URLPattern] = [
    path("templates", templates.template_list, name="template_list"),
    path("templates/<slug:slug>", templates.template_detail, name="template_detail"),
    path("templates/<slug:slug>/versions", templates.template_versions, name="template_versions"),
    path("templates/<slug:slug>/copy", template_admin.copy, name="template_copy"),
    path("templates/<slug:slug>/edit", template_admin.new_version, name="template_edit"),
    path("templates/<slug:slug>/retire", template_admin.retire, name="template_retire"),
    path("templates/<slug:slug>/restore", template_admin.restore, name="template_restore"),
    path("templates/<slug:slug>/new", submit.new, name="job_new"),
    path("templates/<slug:slug>/preview", submit.preview, name="job_preview"),
    path("jobs", lists.job_list, name="job_list"),
    path("queue", queue.queue_page, name="queue_page"),
    path("validation", matrix.validation_matrix, name="validation_matrix"),
    path("artifacts", artifacts.artifact_list, name="artifact_list"),
    path("services", lists.service_list, name="service_list"),
    path("jobs/<uuid:key>", detail.job_detail, name="job_detail"),
    path("jobs/<uuid:key>/status", detail.status, name="job_status"),
    path("jobs/<uuid:key>/part", detail.part, name="job_part"),
    path("jobs/<uuid:key>/stream", detail.stream, name="job_stream"),
    path("jobs/<uuid:key>/log", logs.tail, name="job_log"),
    path("jobs/<uuid:key>/log/download", logs.download, name="job_log_download"),
    path("jobs/<uuid:key>/files/<uuid:artifact>", files.download, name="job_file"),
    path("jobs/<uuid:key>/unblock", unblock.unblock, name="job_unblock"),
    path("jobs/<uuid:key>/cancel", actions.cancel, name="job_cancel"),
    path("projects/<uuid:key>/service-token", actions.new_token, name="service_token"),
]
