"""What people are told: an outbox row for each event, and from it one notice for each person.

Neither holds text. An event is a constant and facts; the sentence is made where it is read, in the reader's language.
"""

import uuid

from django.db import models
from django.db.models import Q

from tenants.models.people import User


class Outbox(models.Model):
    """An event somebody is to hear of, written in the transaction of what happened. Every channel reads from here."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # The same event announced twice is one row, see `services/announce.py`.
    dedupe_key = models.CharField(max_length=200, unique=True)
    event = models.CharField(max_length=40)
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=64)
    facts = models.JSONField(default=dict)
    recipients = models.JSONField(default=dict)  # `tenants.notify.recipients.Recipients` as a plain dict
    at = models.DateTimeField()
    fanned_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["at", "id"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["at", "id"], name="outbox_waiting", condition=Q(fanned_at__isnull=True)),
            models.Index(fields=["at"], name="outbox_at"),
        ]

    def __str__(self) -> str:
        return self.dedupe_key


class Notice(models.Model):
    """One event as one person was told of it in the inbox."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dedupe_key = models.CharField(max_length=240, unique=True)  # the outbox row's key and the recipient's
    recipient = models.ForeignKey(User, on_delete=models.CASCADE, related_name="notices")
    event = models.CharField(max_length=40)
    subject_type = models.CharField(max_length=40)
    subject_id = models.CharField(max_length=64)
    facts = models.JSONField(default=dict)
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-at", "-id"]
        default_permissions = ()
        indexes = [
            models.Index(fields=["recipient", "-at", "-id"], name="notice_of"),
            models.Index(fields=["recipient"], name="notice_unread", condition=Q(read_at__isnull=True)),
            models.Index(fields=["at"], name="notice_at"),
        ]

    def __str__(self) -> str:
        return self.dedupe_key
