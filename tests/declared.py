"""One of each thing that people declare, and the arguments of the routes about them."""

from datetime import date, timedelta
from typing import Any

from resources.models import ClassEquivalence, ClassFact, ResourceClass, Runtime, VendorRow
from resources.services.declare_equivalence import declare_equivalence
from resources.services.declare_fact import declare_fact
from resources.services.declare_runtime import declare_runtime
from resources.services.save_vendor_row import save_vendor_row
from tests.builders import NOW


def make_runtime(key: str = "tools", **fields: Any) -> Runtime:
    """A runtime of Kubernetes clusters for CPU and GPU, or as the fields say."""
    facts = {"driver_kind": "kubernetes", "kinds": ["CPU", "GPU"], "framework": "", "version": "1"}
    facts |= {"image": f"registry.example/{key}:1"} if fields.get("driver_kind", "kubernetes") == "kubernetes" else {}
    return declare_runtime(actor=None, key=key, name={"en": key.title()}, now=NOW, **(facts | fields))


def make_fact(row: ResourceClass, **fields: Any) -> ClassFact:
    """A fact of the class."""
    facts = {"topic": "framework", "subject": "PyTorch 2.4", "support": "yes", "source": "A sheet"}
    return declare_fact(actor=None, resource_class=row, as_of=date(2026, 11, 1), now=NOW, **(facts | fields))


def make_equivalence(of: ResourceClass, by: ResourceClass, **fields: Any) -> ClassEquivalence:
    """One direction, for training, for a month."""
    facts = {"task_type": "training", "evidence": "Measured.", "valid_to": NOW + timedelta(days=30)}
    return declare_equivalence(actor=None, of=of, by=by, now=NOW, **(facts | fields))


def make_vendor_row(pattern: str = "acme.example/xpu", **fields: Any) -> VendorRow:
    """A vendor nobody knows."""
    facts = {"vendor": "acme", "vendor_name": "Acme", "kind": "NPU"}
    return save_vendor_row(actor=None, pattern=pattern, now=NOW, **(facts | fields))


def arguments(cpu: ResourceClass, memory: ResourceClass, pool: str) -> dict[str, dict[str, object]]:
    """Arguments by route, of one of each; made once and found again."""
    Runtime.objects.filter(key="tools").exists() or make_runtime()
    fact = ClassFact.objects.first() or make_fact(cpu)
    pair = ClassEquivalence.objects.first() or make_equivalence(cpu, memory)
    row = VendorRow.objects.first() or make_vendor_row()
    about: list[tuple[dict[str, object], tuple[str, ...]]] = [
        ({"key": "tools"}, ("runtime_detail", "runtime_edit", "runtime_retire", "api_runtime")),
        ({"key": "tools"}, ("api_runtime_preview", "api_runtime_retire")),
        ({"key": "cpu"}, ("fact_declare", "equivalence_declare", "api_class_facts", "api_equivalences")),
        ({"key": "cpu"}, ("api_class_fact_preview", "api_equivalence_preview")),
        ({"key": "cpu", "fact": fact.pk}, ("fact_withdraw", "api_class_fact")),
        ({"key": "cpu", "equivalence": pair.pk}, ("equivalence_withdraw", "api_equivalence")),
        ({"key": row.pk}, ("vendor_row_edit", "vendor_row_remove", "api_vendor_row", "api_vendor_row_change_preview")),
        ({"key": pool}, ("pool_rules", "api_pool_rules", "api_pool_rules_preview", "api_pool_profile")),
    ]
    return {route: given for given, routes in about for route in routes}
