"""Resource classes by key, as pages name them."""

from dataclasses import dataclass

from portal.lib.localised import localised
from resources.models import ResourceClass
from resources.models.catalogue import RESOURCE_OF_KIND


@dataclass(frozen=True, slots=True)
class ClassLook:
    """Name in the active language, kind and axis of a class."""

    key: str
    name: str
    kind: str
    resource: str


class ClassLooks(dict[str, ClassLook]):
    """Looks by class key; a key the catalogue does not know is called by itself, its kind is not guessed."""

    def __missing__(self, key: str) -> ClassLook:
        return ClassLook(key, key, "", "")


def class_looks() -> ClassLooks:
    """Every class, retired ones too: old usage still names them. One query."""
    rows = ResourceClass.objects.values_list("key", "name", "kind", "resource")
    return ClassLooks({key: ClassLook(key, localised(name, key), kind, resource) for key, name, kind, resource in rows})


def kind_of_resource(resource: str) -> str:
    """The kind an axis belongs to where that is certain: cpu, memory, storage, network; "" for devices."""
    kinds = {axis: str(kind) for kind, axis in RESOURCE_OF_KIND.items() if axis != "device"}
    return kinds.get(resource, "")
