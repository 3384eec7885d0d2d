"""Personal tokens of the API: only a digest is kept, each has an end and a name its owner knows it by."""

import uuid

from django.db import models
from knox.models import AbstractAuthToken


class ApiToken(AbstractAuthToken):
    """A token of a user. `key` is what the token is called by; the digest and the token itself are never shown."""

    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120)
    read_only = models.BooleanField(default=False)

    class Meta:
        ordering = ["-created", "key"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
