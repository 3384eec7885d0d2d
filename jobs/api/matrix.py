"""The validation matrix."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.matrix import STATES
from jobs.selectors.matrix import matrix
from portal.lib.rest import inputs
from portal.lib.rest.inputs import Input
from portal.lib.rest.outputs import Moment, Shown, Word
from portal.lib.rest.view import ApiView, answer, endpoint
from resources.task_types import TASK_TYPES


class MatrixQuery(Input):
    """Which part of it."""

    class_key = inputs.text(63, help_text="Key of a class.")
    runtime = inputs.text(63, help_text='Key of a runtime; "-": none.')
    state = inputs.choice(STATES, help_text="Rows with a cell in that state.")


class PlaceShown(Shown):
    """What a node of the class has; empty was not observed, null was not written down."""

    driver = serializers.CharField(allow_null=True)
    container = serializers.CharField(allow_null=True)


class ChangeShown(Shown):
    """A fact that is no longer as it was when the run passed."""

    fact = Word("MatrixFact", ("driver", "container", "runtime", "place"))
    was = serializers.CharField(allow_null=True)
    now = serializers.ListField(child=serializers.CharField())


class RunShown(Shown):
    """The attempt a cell rests on."""

    job = serializers.UUIDField()
    at = Moment()
    passed = serializers.BooleanField()
    simulated = serializers.BooleanField()
    reason = serializers.CharField()
    place = PlaceShown()
    runtime_as = serializers.CharField(allow_null=True, help_text="The runtime's image or framework, and version.")


class CellShown(Shown):
    """A task type on a class in a runtime."""

    task_type = Word("TaskType", TASK_TYPES)
    class_key = serializers.CharField()
    runtime = serializers.CharField(help_text="Empty: none.")
    state = Word("MatrixState", STATES)
    run = RunShown(allow_null=True)
    changed = ChangeShown(many=True)
    unproved = PlaceShown(many=True, help_text="Where a verified cell was not shown.")


class MatrixShown(Shown):
    """Every cell asked for."""

    cells = CellShown(many=True)


class ValidationMatrix(ApiView):
    """What runs have shown."""

    @endpoint("read_validation_matrix", "What runs have shown", query=MatrixQuery, gives={200: MatrixShown})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Computed from attempts; only one whose release was seen verifies, and a simulated one never does."""
        rows = matrix(
            class_key=given.get("class_key", ""), runtime=given.get("runtime", ""), state=given.get("state", "")
        )
        cells = [
            {
                "task_type": task, "class_key": row.class_key, "runtime": row.runtime, "state": cell.state,
                "run": cell.run, "changed": cell.changed, "unproved": cell.unproved,
            }
            for row in rows
            for task, cell in row.cells
        ]  # fmt: skip
        return answer(MatrixShown, {"cells": cells})
