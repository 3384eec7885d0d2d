"""The audit trail."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.rest.view import ApiView, answer_page, endpoint
from tenants.api.shapes import AuditPage, AuditQuery
from tenants.selectors.audit import AuditFilter, audit_matching, require_audit


class Audit(ApiView):
    """Records of the organisation, or of the teams the reader audits."""

    @endpoint("list_audit", "Audit records", query=AuditQuery, gives={200: AuditPage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Newest first."""
        require_audit(self.actor)
        wanted = AuditFilter(**{name: value for name, value in given.items() if name not in ("cursor", "limit")})
        return answer_page(AuditPage, audit_matching(self.actor, wanted), ("-seq",), given)
