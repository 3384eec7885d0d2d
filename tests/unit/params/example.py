"""One schema with every kind of parameter, for the tests of this folder."""

from typing import Any

WORDS = {"en": "Title", "zh-hans": "标题"}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["label", "data", "steps"],
    "x-order": [
        "label",
        "remark",
        "mode",
        "steps",
        "rate",
        "fast",
        "tags",
        "data",
        "source",
        "pause",
        "cores",
        "memory",
        "code",
    ],
    "properties": {
        "label": {"type": "string", "maxLength": 40, "x-title": {"en": "Label", "zh-hans": "标签"}},
        "remark": {"type": "string", "maxLength": 200, "x-multiline": True, "default": "none yet"},
        "mode": {
            "type": "string",
            "enum": ["fast", "exact"],
            "default": "fast",
            "x-title": {"en": "Mode", "zh-hans": "方式"},
            "x-labels": {"fast": {"en": "Fast", "zh-hans": "快速"}},
        },
        "steps": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "x-unit": {"en": "steps", "zh-hans": "步"},
            "description": "How <often> & long",
        },
        "rate": {"type": "number", "minimum": 1e-6, "maximum": 1, "default": 0.05},
        "fast": {"type": "boolean", "default": True},
        "tags": {
            "type": "array",
            "items": {"type": "string", "maxLength": 8},
            "maxItems": 3,
            "uniqueItems": True,
        },
        "data": {"type": "string", "format": "artifact", "x-kind": "dataset"},
        "source": {"type": "string", "format": "datasource"},
        "pause": {
            "type": "string",
            "format": "duration",
            "x-minimum": "1s",
            "x-maximum": "2h",
            "default": "90s",
        },
        "cores": {
            "type": "string",
            "format": "quantity",
            "x-resource": "cpu",
            "x-minimum": "100m",
            "x-maximum": "8",
        },
        "memory": {
            "type": "string",
            "format": "quantity",
            "x-resource": "memory",
            "x-minimum": "64Mi",
            "x-maximum": "4Gi",
        },
        "code": {"type": "string", "maxLength": 20, "pattern": "^[A-Z]{2}-[0-9]+$"},
    },
}

DATA_ID = "0b6f4f0a-3a43-4d3f-9a53-1f6f0b0f2f11"
SOURCE_ID = "5b1c7f1e-8f5a-4a7e-8f67-0a4b8c9d0e12"

GIVEN: dict[str, Any] = {
    "label": "First run",
    "remark": "two\nlines",
    "mode": "exact",
    "steps": 10,
    "rate": 0.5,
    "fast": False,
    "tags": ["a", "b"],
    "data": DATA_ID,
    "source": SOURCE_ID,
    "pause": "30m",
    "cores": "1500m",
    "memory": "1Gi",
    "code": "AB-12",
}
TYPED = GIVEN | {"pause": 1_800_000, "cores": 1_500, "memory": 1 << 30}

HOSTILE_TYPE = {
    "label": "name",
    "remark": "note",
    "mode": "choice",
    "steps": "integer",
    "rate": "number",
    "fast": "boolean",
    "tags": "list",
    "data": "artifact",
    "source": "datasource",
    "pause": "duration",
    "cores": "quantity_cpu",
    "memory": "quantity_memory",
    "code": "text",
}
"""Parameter -> its row of the hostile corpus."""
