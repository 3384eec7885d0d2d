"""Operations on templates and jobs."""

from django.urls import URLPattern, path

from jobs.api import artifacts, jobs, matrix, parts, templates, unblock

urlpatterns: list[URLPattern] = [
    path("templates", templates.Templates.as_view(), name="api_templates"),
    path("templates/<slug:slug>", templates.OneTemplate.as_view(), name="api_template"),
    path("templates/<slug:slug>/versions", templates.Versions.as_view(), name="api_template_versions"),
    path("templates/<slug:slug>/copy", templates.Copy.as_view(), name="api_template_copy"),
    path("templates/<slug:slug>/retire", templates.Retire.as_view(), name="api_template_retire"),
    path("templates/<slug:slug>/restore", templates.Restore.as_view(), name="api_template_restore"),
    path("artifacts", artifacts.Artifacts.as_view(), name="api_artifacts"),
    path("queue", artifacts.Queue.as_view(), name="api_queue"),
    path("validation-matrix", matrix.ValidationMatrix.as_view(), name="api_validation_matrix"),
    path("jobs", jobs.Jobs.as_view(), name="api_jobs"),
    path("jobs/preview", jobs.JobPreview.as_view(), name="api_job_preview"),
    path("jobs/<uuid:key>", jobs.OneJob.as_view(), name="api_job"),
    path("jobs/<uuid:key>/events", parts.JobEvents.as_view(), name="api_job_events"),
    path("jobs/<uuid:key>/artifacts", parts.JobArtifacts.as_view(), name="api_job_artifacts"),
    path("jobs/<uuid:key>/files", parts.JobFiles.as_view(), name="api_job_files"),
    path("jobs/<uuid:key>/files/<uuid:artifact>", parts.JobFile.as_view(), name="api_job_file"),
    path("jobs/<uuid:key>/log", parts.JobLog.as_view(), name="api_job_log"),
    path("jobs/<uuid:key>/unblockers", unblock.Unblockers.as_view(), name="api_job_unblockers"),
    path("jobs/<uuid:key>/cancel", jobs.JobCancel.as_view(), name="api_job_cancel"),
]
