"""Every reason word of a reading, with the sentence a person reads. English templates; the faces translate them."""

from typing import Final

from portal.lib.text import gettext_noop
from resources.normalize.facts import Reason

SENTENCES: Final[dict[str, str]] = {
    # the document
    "NotJson": gettext_noop("This is not readable JSON in UTF-8."),
    "NotAnObject": gettext_noop("The document is not a JSON object."),
    "DuplicateKey": gettext_noop("The document has a key twice in one object, so readers would differ on it."),
    "DocumentTooLarge": gettext_noop("The document is longer than {maximum} characters."),
    "UnsupportedKind": gettext_noop("Documents of kind {kind} are not read; give a Node or a ResourceSlice."),
    "FileUnreadable": gettext_noop("The file cannot be opened."),
    "FieldUnreadable": gettext_noop("{field} has a form that cannot be read and counts as absent."),
    # amounts
    "AmountUnreadable": gettext_noop("The amount of {field} is no Kubernetes quantity and counts as unknown."),
    "AmountNegative": gettext_noop("The amount of {field} is negative and counts as unknown."),
    "AmountNotWhole": gettext_noop("The amount of {field} is no whole number of devices and counts as unknown."),
    "AmountTooLarge": gettext_noop("The amount of {field} is larger than any machine has and counts as unknown."),
    "CapacityMissing": gettext_noop("The node states no capacity; what it lets jobs use is taken as the total."),
    "AllocatableMissing": gettext_noop("The node does not state what jobs may use."),
    "AllocatableAboveCapacity": gettext_noop(
        "The node lets jobs use {allocatable} but says it has {capacity}; one of the two is wrong."
    ),
    # the node
    "NodeNotReady": gettext_noop("The node reports that it is not ready."),
    "NodeStatusUnknown": gettext_noop("The node has stopped reporting; nothing is known of it since."),
    "NodeStatusMissing": gettext_noop("The node does not say whether it is ready."),
    "NetworkPluginNotReady": gettext_noop("The node's network plugin is not ready."),
    "ContainerRuntimeDown": gettext_noop("The node's container runtime does not answer."),
    "PodLifecycleStuck": gettext_noop("The node cannot follow its containers' states."),
    "MemoryPressure": gettext_noop("The node is short of memory."),
    "DiskPressure": gettext_noop("The node is short of disk space."),
    "PidPressure": gettext_noop("The node is short of process numbers."),
    "NetworkUnavailable": gettext_noop("The node's network is not set up."),
    "Cordoned": gettext_noop("Somebody closed the node to new jobs."),
    "ControlPlaneTaint": gettext_noop("The node is kept for the cluster's own control plane."),
    "Tainted": gettext_noop("The node takes only jobs that tolerate its taint {taint}."),
    "NodeTerminating": gettext_noop("The node is being removed from the cluster."),
    "VirtualNode": gettext_noop("The node is a virtual one that stands for a service elsewhere."),
    # devices: amounts against each other
    "DevicesWithdrawn": gettext_noop("{count} of the devices were withdrawn from use."),
    "CardsNotAdvertised": gettext_noop("The labels say {cards} cards, but only {advertised} are advertised."),
    "CountLabelDisagrees": gettext_noop(
        "The labels say {labelled} cards that are not shared, but {advertised} are advertised; one of the two is wrong."
    ),
    "NotAdvertising": gettext_noop("The cards are known, but the device plugin advertises none of them."),
    "LabelledNotAdvertised": gettext_noop("The labels name cards that no device plugin advertises."),
    "PciPresentNotAdvertised": gettext_noop(
        "The PCI bus shows hardware of this maker, but nothing says it is an accelerator in service."
    ),
    "OverAllocated": gettext_noop("Jobs hold {requested}, but only {schedulable} may be used."),
    "CountAbovePlausible": gettext_noop(
        "{slots} are advertised, more than the {most} cards a machine can hold: they are probably shares."
    ),
    "SlotsNotDivisible": gettext_noop("{slots} slots do not make whole cards of {per_card} slots each."),
    "SlotsMayBeShared": gettext_noop("A slot of this resource may be a share of a card; how many cards is unknown."),
    "RegisterSlotsDiffer": gettext_noop("The list of cards says {listed} slots, the node advertises {advertised}."),
    "OverlapsWith": gettext_noop("The same cards are also advertised as {resource}; they must not be added up."),
    "WholeCountConflictsWithSlices": gettext_noop(
        "Whole cards are advertised beside slices ({slices}), and nothing tells which cards are whole."
    ),
    "PartitionsOverlap": gettext_noop("The driver lists alternatives of which only some can be used at a time."),
    "PoolIncomplete": gettext_noop("Only {seen} of {expected} slices of the pool were seen."),
    # devices: each for itself
    "DeviceUnhealthy": gettext_noop("Device {device} is reported unhealthy."),
    "DeviceNetworkUnhealthy": gettext_noop("The network of device {device} is reported unhealthy."),
    "DeviceSeparated": gettext_noop("Device {device} was taken out of use by an operator."),
    "DeviceRecovering": gettext_noop("Device {device} is being recovered."),
    "NodeUnreachable": gettext_noop("The node does not report, so the state of its devices is unknown."),
    # devices: how they are shared, and what is not to be believed
    "Oversubscribed": gettext_noop("Jobs take turns on a card without protection; its memory is not divided."),
    "SharingNotApplied": gettext_noop("The labels ask for sharing, but the cards are advertised whole."),
    "ProfileInvalid": gettext_noop("The cards are cut in a way that their plugin does not support ({profile})."),
    "MemoryScaled": gettext_noop(
        "The sharing layer reports {reported_mib} MiB; the card has {physical_mib} MiB. The rest is host memory."
    ),
    "CoresScaled": gettext_noop("The sharing layer promises more computing power than the card has."),
    "MemoryInferred": gettext_noop("The memory of one card was calculated from the node's total."),
    "PartitionMemoryDisputed": gettext_noop("Drivers differ on whether this memory is of a card or of a partition."),
    "MixedModels": gettext_noop("The cards differ, and one name advertises them all."),
    "RegisterMalformed": gettext_noop(
        "The list of cards in {annotation} is damaged; only its whole entries were read."
    ),
    "HandshakeRequesting": gettext_noop("The sharing layer's plugin has not answered its last handshake."),
    "HandshakeDeleted": gettext_noop("The sharing layer's plugin was removed; its list of cards is left over."),
    "NotInCatalogue": gettext_noop("This looks like an accelerator, but no row of the catalogue knows it."),
}


def sentence(reason: Reason) -> str:
    """The reason in English, with its facts."""
    return SENTENCES[reason.name].format_map(dict(reason.facts))
