"""Personal tokens of the API: only a digest is kept, each has an end and a name its owner knows it by."""

import uuid

from django.db import models

from tenants.models.people import User


class ApiToken(models.Model):
    """A token of a user, with the columns knox authenticates by: digest, token_key, user, expiry.

    `key` is what the token is called by; the digest and the token itself are never shown.
    """

    digest = models.CharField(max_length=128, primary_key=True)
    token_key = models.CharField(max_length=25, db_index=True)  # its first characters, to find it by
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="auth_token_set")
    key = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120)
    read_only = models.BooleanField(default=False)
    created = models.DateTimeField()
    expiry = models.DateTimeField()
    last_used = models.DateTimeField(null=True, blank=True)  # to within `portal.lib.rest.view.USE_NOTED_EVERY`

    class Meta:
        ordering = ["-created", "key"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
