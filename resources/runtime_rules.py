"""What must be true of a runtime, whoever declares or changes it."""

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from portal.lib.text import BadInput
from resources.drivers.registry import FACTORIES
from resources.images import require_registry
from resources.models import ResourceClass

KUBERNETES = "kubernetes"
NO_DRIVER = _("There is no kind of cluster called {name}. Choose one of: {options}.")
NO_IMAGE = _("On Kubernetes every job runs in an image: name it.")
NO_CLASSES = _("No such class in use: {names}.")
OTHER_KIND = _("{names}: not of the kinds this runtime is declared for.")


def classes_of(keys: Sequence[str]) -> list[ResourceClass]:
    """The classes in use of these keys. Raises Invalid for a key that is none."""
    rows = list(ResourceClass.objects.filter(key__in=keys, retired_at__isnull=True))
    missing = sorted(set(keys) - {row.key for row in rows})
    if missing:
        raise Invalid.of(FieldError("classes", "ClassNotFound", NO_CLASSES, {"names": ", ".join(missing)}))
    return rows


def require_sound(driver_kind: str, image: str, kinds: Sequence[str], classes: Sequence[ResourceClass]) -> None:
    """Raise Invalid with every field that does not go with the others."""
    errors = []
    if driver_kind not in FACTORIES:
        facts = {"name": driver_kind[:40], "options": ", ".join(sorted(FACTORIES))}
        errors.append(FieldError("driver_kind", "UnknownKind", NO_DRIVER, facts))
    if driver_kind == KUBERNETES and not image:
        errors.append(FieldError("image", "ImageMissing", NO_IMAGE, {}))
    try:
        require_registry(image, settings.IMAGE_REGISTRIES)
    except BadInput as bad:
        errors.append(FieldError("image", bad.reason, _(bad.template), bad.facts))
    if strangers := [row.key for row in classes if row.kind not in kinds]:
        errors.append(FieldError("classes", "OtherKind", OTHER_KIND, {"names": ", ".join(strangers)}))
    if errors:
        raise Invalid.of(*errors)
