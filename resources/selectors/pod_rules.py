"""How the pods of a pool are written, for an attempt to keep."""

from typing import Any

from resources.models import Pool

_FIELDS = ("scheduler_name", "tolerations", "relaxation")


def pod_rules_of(pool_key: str) -> dict[str, Any]:
    """What is set of the pool's rules for pods; nothing of what is not. One query."""
    row = Pool.objects.filter(key=pool_key).values(*_FIELDS).first() or {}
    return {name: value for name, value in row.items() if value}
