"""The auditor's home: does the chain hold, who was refused, what was done with privilege, the newest records."""

from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from portal.lib import units
from portal.web.homes.parts import Tile, listing
from tenants import access
from tenants.models import User
from tenants.selectors.audit import audit_visible_to, privileged
from tenants.services.verify_audit import verify_audit

RECORDS_SHOWN = 8
RECORDS_CHECKED = 200
DAY, WEEK = timedelta(days=1), timedelta(days=7)


def audit_home(user: User, now: datetime) -> dict[str, Any]:
    """Eight queries; the chain is computed again over its newest records only."""
    whole = access.at_platform(user, "audit.see")
    visible = audit_visible_to(user)
    denied = visible.filter(result="denied", at__gte=now - DAY)
    changes = privileged(visible.filter(at__gte=now - WEEK))
    day, week = ((now - span).isoformat() for span in (DAY, WEEK))
    return {
        "chain": verify_audit(last=RECORDS_CHECKED) if whole else None,
        "tiles": [
            Tile(
                _("Refusals in 24 hours"),
                units.number(denied.count()),
                listing("audit_list", result="denied", after=day),
            ),
            Tile(
                _("Privileged changes in 7 days"),
                units.number(changes.count()),
                listing("audit_list", privileged="1", after=week),
            ),
            Tile(
                _("Records in 24 hours"),
                units.number(visible.filter(at__gte=now - DAY).count()),
                listing("audit_list", after=day),
            ),
        ],
        "all_denied": listing("audit_list", result="denied"),
        "all_changes": listing("audit_list", privileged="1"),
        "records": list(visible[:RECORDS_SHOWN]),
        "denials": list(denied[:RECORDS_SHOWN]),
        "changes": list(changes[:RECORDS_SHOWN]),
    }
