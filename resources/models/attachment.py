"""How a cluster is reached, and by which credentials. Secrets are here only sealed."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from resources.models.fleet import Cluster


class ClusterEndpoint(models.Model):
    """The API server of a cluster. `version` grows with every change of it or of a credential."""

    cluster = models.OneToOneField(Cluster, primary_key=True, on_delete=models.CASCADE, related_name="endpoint")
    server = models.CharField(max_length=300)
    authority_pem = models.TextField(blank=True)  # "": those the machine trusts
    server_name = models.CharField(max_length=253, blank=True)
    namespace = models.CharField(max_length=63)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.server


class ClusterCredential(models.Model):
    """A sealed credential for one right, what can be told of it without opening it, and what the cluster allows it."""

    class Right(models.TextChoices):
        OBSERVER = "observer", _("Observer")
        RUNNER = "runner", _("Runner")
        STEWARD = "steward", _("Steward")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="credentials")
    right = models.CharField(max_length=10, choices=Right.choices)
    kind = models.CharField(max_length=12)  # token, certificate
    ciphertext = models.TextField()
    fingerprint = models.CharField(max_length=16)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)
    answers = models.JSONField(default=dict, blank=True)  # by permission: true, false, null for no answer

    class Meta:
        ordering = ["right"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["cluster", "right"], name="credential_once")]

    def __str__(self) -> str:
        return f"{self.right} {self.fingerprint}"
