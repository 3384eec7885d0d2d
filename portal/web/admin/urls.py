"""Pages of grants and quotas. `kind` is teams or projects."""

from django.urls import URLPattern, path

from portal.web.admin import grants, quotas

urlpatterns: list[URLPattern] = [
    path("grants/<uuid:key>", grants.grant_edit, name="grant_edit"),
    path("grants/<uuid:key>/end", grants.grant_end, name="grant_end"),
    path("quotas/<uuid:key>", quotas.quota_edit, name="quota_edit"),
    path("quotas/<uuid:key>/delete", quotas.quota_delete, name="quota_delete"),
    path("<slug:kind>/<slug:slug>/grants/new", grants.grant_new, name="grant_new"),
    path("<slug:kind>/<slug:slug>/quotas/new", quotas.quota_new, name="quota_new"),
]
