"""The audit trail."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from tenants import access
from tenants.api.shapes import AuditPage, AuditQuery, ChainShown
from tenants.selectors.audit import AuditFilter, audit_matching, require_audit
from tenants.services.verify_audit import CHECKED, verify_audit


class Audit(ApiView):
    """Records of the organisation, or of the teams the reader audits."""

    @endpoint("list_audit", "Audit records", query=AuditQuery, gives={200: AuditPage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Newest first."""
        require_audit(self.actor)
        wanted = AuditFilter(**{name: value for name, value in given.items() if name not in ("cursor", "limit")})
        return answer_page(AuditPage, audit_matching(self.actor, wanted), ("-seq",), given)


class AuditChain(ApiView):
    """The chain of the newest records."""

    @endpoint("verify_audit", "Verify the audit chain", gives={200: ChainShown}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Each hash of the newest records is computed again."""
        access.require_platform(self.actor, "audit.see")
        return answer(ChainShown, verify_audit(last=CHECKED))
