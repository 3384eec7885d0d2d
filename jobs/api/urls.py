"""Operations on templates and jobs."""

from django.urls import URLPattern, path

from jobs.api import jobs, parts, templates

urlpatterns: list[URLPattern] = [
    path("templates", templates.Templates.as_view(), name="api_templates"),
    path("templates/<slug:slug>", templates.OneTemplate.as_view(), name="api_template"),
    path("jobs", jobs.Jobs.as_view(), name="api_jobs"),
    path("jobs/preview", jobs.JobPreview.as_view(), name="api_job_preview"),
    path("jobs/<uuid:key>", jobs.OneJob.as_view(), name="api_job"),
    path("jobs/<uuid:key>/events", parts.JobEvents.as_view(), name="api_job_events"),
    path("jobs/<uuid:key>/artifacts", parts.JobArtifacts.as_view(), name="api_job_artifacts"),
    path("jobs/<uuid:key>/log", parts.JobLog.as_view(), name="api_job_log"),
    path("jobs/<uuid:key>/cancel", jobs.JobCancel.as_view(), name="api_job_cancel"),
]
