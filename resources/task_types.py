"""What kinds of work there are: the word a template, a runtime and a pool agree on (R-12)."""

from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

TASK_WORDS: Final[dict[str, str | Promise]] = {
    "training": _("Training job"),
    "fine_tuning": _("Fine-tuning"),
    "inference": _("Inference service"),
    "data_processing": _("Data processing"),
    "batch": _("Batch job"),
    "experiment": _("Experiment job"),
    "evaluation": _("Evaluation job"),
}
TASK_TYPES: Final = tuple(TASK_WORDS)
