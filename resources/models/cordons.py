"""Cordons of the portal on clusters themselves: what was asked, before anything is done, and how it stands."""

import uuid

from django.db import models
from django.db.models import Q

from resources.models.fleet import Node


class ClusterCordon(models.Model):
    """One cordon asked for on the node's own cluster, for whoever else uses it. Its id is the mark written there.

    The row is the intent: it is stored before the cluster is told, and tells afterwards what is the portal's to lift.
    """

    class State(models.TextChoices):
        ASKED = "asked"
        SET = "set"
        THEIRS = "theirs"
        DRIFTED = "drifted"
        LIFTING = "lifting"
        CLOSED = "closed"

    class Outcome(models.TextChoices):
        """How it ended; pages say it by `resources.cordon_words`."""

        LIFTED = "lifted"
        NOT_OURS = "not_ours"
        NOTHING = "nothing"
        GONE = "gone"
        RENEWED = "renewed"

    STANDING = (State.ASKED, State.SET, State.THEIRS)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="cluster_cordons")
    state = models.CharField(max_length=10, choices=State.choices, default=State.ASKED)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, blank=True)
    asked_at = models.DateTimeField()
    asked_by = models.CharField(max_length=200, blank=True)
    note = models.CharField(max_length=1_000, blank=True)
    since = models.DateTimeField()  # when it came into this state
    error = models.CharField(max_length=300, blank=True)  # why the last try did nothing; "" when it did

    class Meta:
        ordering = ["-asked_at", "-id"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["node"], condition=~Q(state="closed"), name="cluster_cordon_one_open"),
            models.CheckConstraint(
                condition=Q(state="closed") ^ Q(outcome=""), name="cluster_cordon_outcome_when_closed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.state}"
