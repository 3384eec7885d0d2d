"""What a change would do, for the API: the change itself is made and undone, and its audit record says what it was."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, get_args

from django.db import transaction
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.change_form import Effect
from portal.lib.display import Tone
from portal.lib.request_context import current
from portal.lib.rest import inputs
from portal.lib.rest.inputs import Given, Input
from portal.lib.rest.outputs import Shown, Word
from portal.lib.rest.view import ApiView, answer, endpoint
from tenants.audit_words import Changed, changes
from tenants.models import AuditEvent

Effects = Callable[..., Sequence[Effect]]
"""What follows, by the actor, the values given and the arguments of the address."""
_NOT_KEPT = "preview"


class FieldChange(Shown):
    """A field before and after, as a reader knows it; "" is none."""

    name = serializers.CharField()
    label = serializers.CharField(source="word")  # type: ignore[assignment]
    old = serializers.CharField(source="before")
    new = serializers.CharField(source="after")


class EffectShown(Shown):
    """What follows from a change, in a sentence."""

    text = serializers.CharField()
    tone = Word("EffectTone", get_args(Tone))


class PreviewShown(Shown):
    """What a change would do. What stands against it is a refusal, the same as the change itself would get."""

    changes = FieldChange(many=True)
    effects = EffectShown(many=True)


def nothing_more(_actor: Any, _given: dict[str, Any], **_path: Any) -> Sequence[Effect]:
    """Nothing follows but the change itself."""
    return ()


def preview_of(
    method: Callable[..., Any],
    operation: str,
    summary: str,
    *,
    body: type[Input],
    refuses: Sequence[int] = (404,),
    effects: Effects = nothing_more,
) -> type[ApiView]:
    """A view that takes what `method` of another view takes, a reason or none, and stores nothing."""
    change: Callable[..., Any] = method.__wrapped__  # type: ignore[attr-defined]

    class PreviewView(ApiView):
        """A change that is not made."""

        @endpoint(operation, summary, body=_reason_optional(body), gives={200: PreviewShown}, refuses=refuses)
        def post(self, request: Request, given: dict[str, Any], **path: Any) -> Response:
            """Checked as the change itself is: old and new values, and what follows. Nothing is stored."""
            said = {"reason": _NOT_KEPT} | given
            found = rehearse(lambda: change(self, request, dict(said), **path))
            return answer(PreviewShown, {"changes": found, "effects": effects(self.actor, dict(said), **path)})

    return PreviewView


def rehearse(change: Callable[[], object]) -> list[Changed]:
    """The fields that `change` would change, as its records in the audit trail have them. All of it is undone."""
    with transaction.atomic():
        last = AuditEvent.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
        change()
        said = AuditEvent.objects.filter(seq__gt=last).order_by("seq")
        mine = [event for event in said if event.request_id == current().request_id]
        found = [item for event in mine for item in changes(event.before, event.after)]
        transaction.set_rollback(True)
    return _joined(found)


def _joined(found: Sequence[Changed]) -> list[Changed]:
    """Each field once: another role, for one, is recorded as one given and one taken, each with its half."""
    fields: dict[str, Changed] = {}
    for item in found:
        known = fields.get(item.name, item)
        fields[item.name] = replace(item, before=known.before or item.before, after=item.after or known.after)
    return [item for item in fields.values() if item.before != item.after]


@cache
def _reason_optional(body: type[Input]) -> type[Input]:
    """The same body; nothing is kept, so no reason is needed."""
    known = inputs.reason()
    reason = Given(known.parse, {"type": "string", "maxLength": 1_000}, help_text="Not needed: nothing is kept.")
    name = f"{body.__name__}Preview"
    return type(name, (body,), {"__doc__": body.__doc__, "__module__": body.__module__, "reason": reason})
