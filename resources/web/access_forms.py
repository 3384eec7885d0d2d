"""Fields for attaching a cluster and for its credentials. What is secret is sealed between two steps."""

from typing import Any, Final

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from portal.lib.change_form import CleanText
from portal.lib.text import clean_line
from resources.attaching import TOKEN_FIELDS, ConnectionGiven, CredentialGiven
from resources.drivers.kubernetes.connection import NAMESPACE, Right
from resources.drivers.kubernetes.given import LONGEST_PEM, LONGEST_SERVER, LONGEST_TOKEN
from resources.drivers.kubernetes.kubeconfig import LONGEST
from resources.models import ClusterCredential
from resources.web.forms import NewClusterForm
from resources.web.sealed import SealedText

LONGEST_CONTEXT: Final = 253
TOKEN_LABELS: Final = {
    Right.OBSERVER: _("Observer's token"),
    Right.RUNNER: _("Runner's token"),
    Right.STEWARD: _("Steward's token"),
}
TOKEN_HELP: Final = {
    Right.OBSERVER: _("Needed, unless the kubeconfig is the observer's. It reads nodes, pods and what is installed."),
    Right.RUNNER: _("Runs jobs. Without it this cluster is only looked at."),
    Right.STEWARD: _("Keeps namespaces and quotas in step, cordons and drains. Can be given later."),
}

ORDER: Final = (
    "key", "name", "location", "maintainer", "kubeconfig", "kubeconfig_context", "kubeconfig_right",
    "server", "server_name", "namespace", "authority",
)  # fmt: skip


def _line(label: Any, maximum: int, help_text: Any) -> CleanText:
    return CleanText(lambda raw: clean_line(raw, maximum=maximum), label=label, required=False, help_text=help_text)


class ConnectForm(NewClusterForm):
    """A Kubernetes cluster that is not there yet: a kubeconfig, or server and authority, and the roles' tokens."""

    kubeconfig_context = _line(_("Context"), LONGEST_CONTEXT, _("Which one of the kubeconfig, when it has several."))
    kubeconfig_right = forms.ChoiceField(
        label=_("The kubeconfig is for"),
        choices=ClusterCredential.Right.choices,
        required=False,
        help_text=_("The role whose credential it holds."),
    )
    server = _line(
        _("API server"), LONGEST_SERVER, _("Such as https://10.1.2.3:6443; empty when a kubeconfig says it.")
    )
    server_name = _line(
        _("Name in its certificate"), LONGEST_CONTEXT, _("Only when it is another than that of the address.")
    )
    namespace = _line(
        _("Namespace for jobs"),
        63,
        format_lazy(_("Empty: {namespace}. The runner's manifest makes it."), namespace=NAMESPACE),
    )

    def __init__(self, person: object, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["kubeconfig"] = SealedText(
            person,
            LONGEST,
            label=_("Kubeconfig"),
            required=False,
            help_text=_("What `kubectl config view --raw --minify --flatten` prints. Only address, authority and token "
                        "or certificate are taken; one that names programs, files or a proxy is refused."),
        )  # fmt: skip
        self.fields["authority"] = SealedText(
            person, LONGEST_PEM, label=_("Authority"), required=False,
            help_text=_("The certificate that signed the server's, from BEGIN to END CERTIFICATE. "
                        "Empty: those this machine trusts."),
        )  # fmt: skip
        for right, name in TOKEN_FIELDS.items():
            self.fields[name] = SealedText(
                person, LONGEST_TOKEN, rows=2, label=TOKEN_LABELS[right], required=False, help_text=TOKEN_HELP[right]
            )
        self.order_fields([*ORDER, *TOKEN_FIELDS.values()])


class CredentialForm(forms.Form):
    """A token, or a client certificate with its key."""

    def __init__(self, person: object, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        told = _("What `kubectl create token` prints.")
        labels = {
            "token": (_("Token"), LONGEST_TOKEN, told),
            "certificate": (_("Client certificate"), LONGEST_PEM, _("In place of a token, with its key.")),
            "key": (_("Key of the certificate"), LONGEST_PEM, _("As PEM, without a passphrase.")),
        }
        for name, (label, maximum, help_text) in labels.items():
            self.fields[name] = SealedText(person, maximum, label=label, required=False, help_text=help_text)


def connection_given(values: dict[str, Any]) -> ConnectionGiven:
    """What the form says of the connection."""
    return ConnectionGiven(
        kubeconfig=values["kubeconfig"],
        context=values["kubeconfig_context"],
        right=Right(values["kubeconfig_right"] or Right.OBSERVER),
        server=values["server"],
        authority=values["authority"],
        server_name=values["server_name"],
        namespace=values["namespace"],
        tokens={right: values[name] for right, name in TOKEN_FIELDS.items()},
    )


def credential_given(values: dict[str, Any]) -> CredentialGiven:
    """What the form says of a credential."""
    return CredentialGiven(token=values["token"], certificate=values["certificate"], key=values["key"])
