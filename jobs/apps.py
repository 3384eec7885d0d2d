"""Django's entry for the jobs app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """The jobs app; no signals are connected here (architecture rule 2)."""

    name = "jobs"
