"""Reads Kubernetes nodes and resource slices into facts about their devices. Pure: no Django, no I/O but one data file.

`read_node` and `read_slice` take parsed objects, `read_document` either of them with its `x-` companions, and
`parse_document` text. Which names mean which device is data: `load_catalogue()` reads `catalogue.toml`, and
`Catalogue.merged` lays rows from elsewhere over it. The words are explained in docs/normalizer.md.
"""

from resources.normalize.catalogue import BadCatalogue, Catalogue, load_catalogue, parse_catalogue
from resources.normalize.documents import RefusedDocument, parse_document
from resources.normalize.facts import DeviceGroup, Health, NodeReading, Reason
from resources.normalize.read import read_document, read_node, read_slice
from resources.normalize.written import as_json

__all__ = [
    "BadCatalogue",
    "Catalogue",
    "DeviceGroup",
    "Health",
    "NodeReading",
    "Reason",
    "RefusedDocument",
    "as_json",
    "load_catalogue",
    "parse_catalogue",
    "parse_document",
    "read_document",
    "read_node",
    "read_slice",
]
