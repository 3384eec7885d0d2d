"""What the API shows of how clusters are reached: never a secret."""

from typing import Any, Final

from rest_framework import serializers

from portal.lib.rest.outputs import Moment, Shown, Word
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.rights import Feature, Line, Place

RIGHTS: Final = [right.value for right in Right]
FEATURES: Final = [feature.value for feature in Feature]
STANDINGS: Final = ("granted", "missing", "not_asked")
ENDS: Final = ("", "soon", "ended")


class CertificateShown(Shown):
    """A certificate of the authority."""

    subject = serializers.CharField()
    fingerprint = serializers.CharField(help_text="SHA-256.")
    ends_at = Moment()


class CredentialTold(Shown):
    """What can be told of a credential."""

    right = Word("ClusterRight", RIGHTS)
    kind = Word("CredentialKind", ("token", "certificate"))
    fingerprint = serializers.CharField()
    expires_at = Moment(allow_null=True, help_text="null: it does not say.")


class ConnectionPreview(Shown):
    """What would be kept of what was given."""

    server = serializers.CharField()
    server_name = serializers.CharField()
    namespace = serializers.CharField()
    authority = CertificateShown(many=True)
    credentials = CredentialTold(many=True)
    off = serializers.ListField(
        child=Word("ClusterFeature", FEATURES), help_text="Features of the roles without a credential."
    )


class VerbShown(Shown):
    """A verb and how it stands."""

    verb = serializers.CharField()
    standing = Word("Standing", STANDINGS)


class PermissionShown(Shown):
    """A resource that a role needs."""

    feature = Word("ClusterFeature", FEATURES)
    group = serializers.CharField()
    resource = serializers.CharField()
    place = Word("PermissionPlace", [place.value for place in Place])
    standing = Word("Standing", STANDINGS)
    verbs = serializers.SerializerMethodField()

    @staticmethod
    def get_verbs(line: Line) -> list[dict[str, str]]:
        """Every verb and how it stands."""
        return [{"verb": verb, "standing": standing} for verb, standing in line.verbs]


class RightShown(Shown):
    """A role: its credential, what the cluster allows it, and what is off."""

    right = Word("ClusterRight", RIGHTS)
    standing = Word("RightStanding", ("absent", *STANDINGS))
    fingerprint = serializers.CharField(source="credential.fingerprint", default="")
    kind = Word("CredentialKindOrNone", ("", "token", "certificate"), source="credential.kind", default="")
    given_at = Moment(source="credential.created_at", default=None, allow_null=True)
    expires_at = Moment(source="credential.expires_at", default=None, allow_null=True)
    ends = Word("Ends", ENDS)
    reviewed_at = Moment(source="credential.reviewed_at", default=None, allow_null=True)
    off = serializers.ListField(child=Word("ClusterFeature", FEATURES))
    too_much = serializers.SerializerMethodField(help_text="What it may do and should not, such as list secrets.")
    permissions = PermissionShown(many=True, source="lines")

    @staticmethod
    def get_too_much(row: Any) -> list[str]:
        """Verb, resource and, unless it is the whole cluster, namespace."""
        return [" ".join(filter(None, (one.verb, one.resource, one.namespace))) for one in row.too_much]


class AccessShown(Shown):
    """How a cluster is reached and what its credentials may do."""

    server = serializers.CharField(source="endpoint.server")
    server_name = serializers.CharField(source="endpoint.server_name")
    namespace = serializers.CharField(source="endpoint.namespace")
    authority = CertificateShown(many=True)
    rights = RightShown(many=True)
