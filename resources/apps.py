"""Django's entry for the resources app."""

from django.apps import AppConfig


class ResourcesConfig(AppConfig):
    """The resources app; no signals are connected here (architecture rule 2)."""

    name = "resources"
