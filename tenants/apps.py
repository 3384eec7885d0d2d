"""Django's entry for the tenants app."""

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """The tenants app; no signals are connected here (architecture rule 2)."""

    name = "tenants"
