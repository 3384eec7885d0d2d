"""Pages of tenants."""

from django.urls import URLPattern, path

from tenants.web import audit, sign_in

urlpatterns: list[URLPattern] = [
    path("login", sign_in.SignIn.as_view(), name="login"),
    path("logout", sign_in.SignOut.as_view(), name="logout"),
    path("audit", audit.audit_list, name="audit_list"),
]
