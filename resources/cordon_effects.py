"""What follows from a change of a node's stage on its own cluster, in sentences for page and API."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.lib.change_form import Effect
from resources.cordon_words import OFF_WORDS
from resources.models import ClusterCordon, Node
from resources.selectors.cordons import cordon_off, open_cordon
from resources.selectors.drivers import KUBERNETES

State = ClusterCordon.State


def cordon_effects(node: Node, stage: str, wanted: bool | None) -> list[Effect]:
    """`stage` "" brings the node back; `wanted` None leaves a cordon on the cluster as it is."""
    if node.cluster.driver != KUBERNETES:
        return []
    row = open_cordon(node)
    stands = row is not None and row.state in ClusterCordon.STANDING
    if wanted and not stands:
        return _closing(node)
    if (wanted is False or not stage) and row is not None:
        return _opening(node, row)
    if stands:
        return [Effect(_("Its cluster goes on keeping pods of others away, as the portal asked it to."))]
    if not stage:
        return [_theirs()] if node.cluster_cordoned else []
    off = cordon_off(node.cluster)
    if not off:
        return [Effect(_("Its cluster is not told: whoever else uses the node goes on as before."))]
    said = _("Its cluster is not told, and cannot be: {why}").format(why=OFF_WORDS[off])
    return [Effect(said)]


def may_not_return(node: Node) -> list[Effect]:
    """Against bringing it back by who does not manage clusters: what the portal closed there would stay closed."""
    if open_cordon(node) is None:
        return []
    return [Effect(_("It is closed on its cluster too, by the portal: a platform administrator brings it back."))]


def _closing(node: Node) -> list[Effect]:
    if node.cluster_cordoned:
        said = _("Others closed it on its cluster already: theirs stands, and the portal will not lift it.")
        return [Effect(said, "warn")]
    effects = [Effect(_("Its cluster places nothing new there, for nobody: the portal is to mark the node."), "warn")]
    pods = node.foreign.get("pods", 0)
    if pods:
        text = ngettext("{n} pod of others runs there and stays.", "{n} pods of others run there and stay.", pods)
        effects.append(Effect(text.format(n=pods), "wait", live=True))
    return effects


def _opening(node: Node, row: ClusterCordon) -> list[Effect]:
    if row.state == State.THEIRS or (row.state == State.DRIFTED and node.cluster_cordoned):
        return [_theirs()]
    if row.state == State.DRIFTED:
        return [Effect(_("Others lifted the portal's cordon on its cluster already."))]
    off = cordon_off(node.cluster)
    if off:
        said = _("The portal's cordon on its cluster stays until it can be lifted: {why}").format(why=OFF_WORDS[off])
        return [Effect(said, "warn")]
    return [Effect(_("The portal's cordon on its cluster is lifted as well."))]


def _theirs() -> Effect:
    return Effect(_("Others closed it on its cluster: it takes nothing until they open it."), "warn")
