"""What would let a waiting job start, and doing it."""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.models import Job
from jobs.scheduler.unblock import Change
from jobs.selectors.unblocking import ACTS, as_plain, offers_for
from jobs.services.unblock_job import unblock_job
from portal.lib.clock import utc_now
from portal.lib.rest import inputs
from portal.lib.rest.outputs import Shown
from portal.lib.rest.view import ApiView, answer, endpoint
from tenants import access
from tenants.models import Request as AskedFor


class UnblockerShown(Shown):
    """A change after which the next pass starts the job, tried on a copy of the facts."""

    change = serializers.ChoiceField(choices=[one.value for one in Change])
    says = serializers.CharField()
    can_be_done = serializers.BooleanField(help_text="Whether POST makes it; else somebody else has to, or time.")


class UnblockersShown(Shown):
    """All that is offered; empty when the job does not wait, or no single change would do."""

    unblockers = UnblockerShown(many=True)


class UnblockAsked(inputs.Input):
    """Which of the changes to make."""

    change = inputs.choice(sorted(one.value for one in ACTS))


class UnblockDone(Shown):
    """What was made of it."""

    changed = serializers.BooleanField(help_text="The job was changed and is looked at in the next pass.")
    request = serializers.UUIDField(allow_null=True, help_text="The draft that asks for more quota.")


class Unblockers(ApiView):
    """A waiting job and what would let it start."""

    @endpoint("list_unblockers", "What would start a job", gives={200: UnblockersShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Worked out when asked, by the code that decides."""
        job = access.fetch(self.actor, Job, key, "job.see", related=("project",))
        return answer(UnblockersShown, {"unblockers": as_plain(offers_for(job, utc_now()))})

    @endpoint(
        "unblock_job",
        "Make a change that starts a job",
        body=UnblockAsked,
        gives={200: UnblockDone},
        refuses=(404, 409),
    )
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """409 when it would no longer let the job start. More quota becomes a draft of a request."""
        job = access.fetch(self.actor, Job, key, "job.see", related=("project",))
        made = unblock_job(actor=self.actor, job=job, change=given.get("change", ""), now=utc_now())
        draft = made.pk if isinstance(made, AskedFor) else None
        return answer(UnblockDone, {"changed": draft is None, "request": draft})
