"""Django's entry for the metering app."""

from django.apps import AppConfig


class MeteringConfig(AppConfig):
    """The metering app; no signals are connected here (architecture rule 2)."""

    name = "metering"
