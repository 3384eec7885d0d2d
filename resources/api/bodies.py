"""What the API takes to change the fleet and the catalogue. Every change says why, as on the pages."""

from collections.abc import Callable
from typing import Any, Final

from portal.lib.rest import inputs
from portal.lib.rest.inputs import Given, Input
from portal.lib.rest.paging import PageQuery
from portal.lib.text import BLANK, BadInput, visible
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.given import LONGEST_PEM, LONGEST_TOKEN
from resources.drivers.kubernetes.kubeconfig import LONGEST
from resources.inputs import LONGEST_NOTE, READERS
from resources.models import Cluster, CostBasis
from resources.models.catalogue import Kind
from resources.selectors.devices import HEALTH
from resources.services.publish_rate import MOST_MICRO
from resources.stages import HOLDS

_TEXT: Final = {"type": "string"}
_PAIRS: Final = {"type": "object", "additionalProperties": {"type": "string"}}
_NAMES: Final = {
    "type": "object",
    "properties": {"en": _TEXT, "zh-hans": _TEXT},
    "required": ["en"],
    "additionalProperties": False,
}
_MICRO: Final = {"type": "integer", "minimum": 0, "nullable": True}


def _given(name: str, schema: dict[str, Any], *, required: bool = False, help_text: str = "") -> Given:
    return Given(READERS[name], schema, required=required, help_text=help_text)


def _micro(value: object) -> int | None:
    whole: Callable[[object], int] = inputs.whole(0, MOST_MICRO).parse
    return None if value is None else whole(value)


def _key() -> Given:
    return _given("key", {"type": "string", "maxLength": 63}, required=True, help_text="a-z, 0-9 and -; never changes.")


def _line(name: str) -> Given:
    return _given(name, {"type": "string", "maxLength": 200})


def _reason() -> Given:
    def parse(value: object) -> str:
        text: str = READERS["note"](value)
        if not visible(text):
            raise BadInput("Blank", BLANK)
        return text

    help_text = "Why; kept in the audit trail with the old and new values."
    return Given(
        parse, {"type": "string", "minLength": 1, "maxLength": LONGEST_NOTE}, required=True, help_text=help_text
    )


class FleetReason(Input):
    """Why something is done."""

    reason = _reason()


class DevicesQuery(PageQuery):
    """Which devices."""

    class_key = inputs.text(
        63, help_text='Key of the class; "-": devices no class takes; or the name nodes report such devices by.'
    )
    vendor = inputs.text(60)
    model = inputs.text(120)
    health = inputs.choice(HEALTH)
    cluster = inputs.text(63, help_text="Key of the cluster.")
    pool = inputs.text(63, help_text="Key of the pool.")
    node = inputs.text(200, help_text="Part of the node's name.")


class ClassesQuery(PageQuery):
    """Which classes."""

    kind = inputs.choice(Kind.values)
    q = inputs.text(200, help_text="Part of the key or name.")
    retired = inputs.flag(help_text="true: the retired ones.")


class NewPool(FleetReason):
    """A pool to make."""

    key = _key()
    name = _given("name", _NAMES, required=True)
    selector = _given("selector", _PAIRS, help_text="Labels that must match; cluster names a cluster.")
    maintainer = _line("maintainer")
    purpose = _given("purpose", {"type": "string", "maxLength": 300})
    labels = _given("labels", _PAIRS, help_text="At most five; they place nothing.")
    owner = inputs.text(63, help_text="Short name of a team.")


class PoolChange(FleetReason):
    """What to change of a pool; what is left out stays."""

    name = _given("name", _NAMES)
    selector = _given("selector", _PAIRS)
    maintainer = _line("maintainer")
    purpose = _given("purpose", {"type": "string", "maxLength": 300})
    labels = _given("labels", _PAIRS, help_text="At most five; they place nothing.")
    owner = inputs.text(63, help_text='Short name of a team; "": nobody in particular.')


class SelectorTry(Input):
    """A selector to try."""

    selector = _given("selector", _PAIRS, required=True)


class NewClass(FleetReason):
    """A class to define."""

    key = _key()
    kind = Given(inputs.choice(Kind.values).parse, {"type": "string", "enum": Kind.values}, required=True)
    name = _given("name", _NAMES, required=True)
    match = _given("match", _PAIRS, help_text="Of resource_name, vendor, kind and model.")
    memory_bytes = _given("memory_bytes", {"type": "integer", "minimum": 0}, help_text="0: none.")
    maintainer = _line("maintainer")


class ClassChange(FleetReason):
    """What to change of a class; what is left out stays."""

    name = _given("name", _NAMES)
    match = _given("match", _PAIRS)
    memory_bytes = _given("memory_bytes", {"type": "integer", "minimum": 0}, help_text="0: none.")
    maintainer = _line("maintainer")


class MatchTry(Input):
    """A match to try."""

    match = _given("match", _PAIRS, required=True)


class NewRate(FleetReason):
    """A version of a rate, in millionths per unit and hour; null is unrated, which is not 0."""

    price_micro = Given(_micro, _MICRO, required=True)
    weight_micro = Given(_micro, _MICRO, required=True)
    currency = inputs.text(10, help_text='"points" or three letters.')
    valid_from = inputs.moment(help_text="Without it: now.")
    correction = inputs.flag(help_text="true: it may begin before now.")


class NewCluster(FleetReason):
    """A cluster to register."""

    key = _key()
    name = _given("title", {"type": "string", "maxLength": 120}, required=True)
    driver = Given(inputs.text(20).parse, {"type": "string", "maxLength": 20}, required=True)
    location = _line("location")
    maintainer = _line("maintainer")


class ConnectionBody(Input):
    """How a Kubernetes cluster is reached: a kubeconfig, or server and authority; and a token for each role."""

    kubeconfig = inputs.secret(LONGEST, help_text="Its address, authority and credential are taken, nothing else.")
    kubeconfig_context = inputs.text(253, help_text="Which context, when there are several.")
    kubeconfig_right = inputs.choice(
        [*Right], help_text="The role whose credential the kubeconfig holds; observer if not said."
    )
    server = inputs.text(300, help_text="https://host[:port]; without a kubeconfig.")
    authority = inputs.secret(LONGEST_PEM, help_text="Certificates in PEM; left out: those the machine trusts.")
    server_name = inputs.text(253, help_text="The name in the server's certificate, if another than the host.")
    namespace = inputs.text(63, help_text="Where jobs run; left out: armillary-jobs.")
    observer_token = inputs.secret(LONGEST_TOKEN, help_text="Never shown again.")
    runner_token = inputs.secret(LONGEST_TOKEN, help_text="Never shown again.")
    steward_token = inputs.secret(LONGEST_TOKEN, help_text="Never shown again.")


class NewKubernetes(ConnectionBody, FleetReason):
    """A Kubernetes cluster to attach."""

    key = _key()
    name = _given("title", {"type": "string", "maxLength": 120}, required=True)
    location = _line("location")
    maintainer = _line("maintainer")


class CredentialBody(FleetReason):
    """A token, or a client certificate with its key."""

    token = inputs.secret(LONGEST_TOKEN, help_text="Never shown again.")
    certificate = inputs.secret(LONGEST_PEM)
    key = inputs.secret(LONGEST_PEM, help_text="The certificate's, without a passphrase; never shown again.")


class RoleQuery(Input):
    """Which namespace jobs shall run in."""

    namespace = inputs.text(63, help_text="Left out: armillary-jobs.")


class ClusterChange(FleetReason):
    """What to change of a cluster; what is left out stays."""

    name = _given("title", {"type": "string", "maxLength": 120})
    location = _line("location")
    maintainer = _line("maintainer")
    cost_basis = _given("cost_basis", {"type": "string", "enum": CostBasis.values})


class ClusterTurn(FleetReason):
    """The state a cluster shall be in."""

    state = Given(
        inputs.choice(Cluster.State.values).parse, {"type": "string", "enum": Cluster.State.values}, required=True
    )


class NodeHold(FleetReason):
    """The stage an operator wants of a node; "" gives it back to what its cluster says."""

    stage = Given(inputs.choice(("", *HOLDS)).parse, {"type": "string", "enum": ["", *HOLDS]}, required=True)
    on_cluster = inputs.flag(
        help_text="true: its own cluster is asked to place nothing new there for anybody; false: what the portal asked "
        "is lifted; left out: as it is."
    )
