"""What a fake pod does: read from annotations, unknown or broken ones refused.

A pod that has annotations of ours is told all by them. Otherwise its namespace may speak for it: by
`fake-kubelet/scripts`, JSON from a pattern of pod names to a script, and by annotations that hold for every pod in
it; then its node's annotations, in the same way.
"""

import fnmatch
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

PREFIX = "fake-kubelet/"
SCRIPTS = "scripts"
# Annotations of nodes that say how the node itself is; see nodes.py.
ABOUT_NODES = frozenset({"managed", "frozen", "ready"})


@dataclass(frozen=True, slots=True)
class Script:
    """One field per annotation, `_` written `-`; times in seconds.

    duration: of the run; `inf` never ends; by default 2, and inf for pods that are always restarted.
    waiting: the reason for which it never starts, e.g. ImagePullBackOff. reject: the reason for which the node
    refuses it, e.g. UnexpectedAdmissionError. stop_after: what the program takes to end once it is asked to; above
    the grace period it is killed. stuck: asked to end, it neither ends nor is forgotten. log_bytes: a log of that
    size instead of `log`, written all within the first second or at log_bytes_a_second; of one that was rotated the
    node has the last log_kept bytes. log_lines: JSON [[milliseconds after the start, line], …] instead of both;
    goodbye: the line it says when it ends because it was asked to, with stop_exit_code if that is not negative.
    """

    duration: float = -1.0
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    waiting: str = ""
    reject: str = ""
    start_delay: float = 0.0
    pull: float = 0.0
    init: float = 0.0
    init_exit_code: int = 0
    never_ready: bool = False
    evict_after: float = -1.0
    stop_after: float = 0.0
    stuck: bool = False
    log: str = ""
    log_bytes: int = 0
    log_bytes_a_second: int = 0
    log_kept: int = 0
    log_lines: str = ""
    goodbye: str = ""
    stop_exit_code: int = -1

    @property
    def ending(self) -> tuple[int, str]:
        """Exit code and reason of a run that ended by itself."""
        code = self.exit_code or (137 if self.reason == "OOMKilled" else 0)
        return code, self.reason or ("Error" if code else "Completed")


TYPES: dict[str, Any] = {field.name.replace("_", "-"): field.type for field in fields(Script)}


def script_of(pod: Mapping[str, Any], namespace: Mapping[str, Any], node: Mapping[str, Any]) -> Script:
    """The script of the pod. Raises ValueError with the annotation that is wrong."""
    own = _said_by(pod)
    if own:
        return _with_duration(_read(own), pod)
    name = pod["metadata"]["name"]
    told: dict[str, str] = {}
    for speaker in (node, namespace):
        said = {key: value for key, value in _said_by(speaker).items() if key not in ABOUT_NODES}
        patterns: dict[str, dict[str, str]] = json.loads(said.pop(SCRIPTS, "{}"))
        told |= said
        for pattern, script in patterns.items():
            if fnmatch.fnmatchcase(name, pattern):
                told |= script
    return _with_duration(_read(told), pod)


def _said_by(thing: Mapping[str, Any]) -> dict[str, str]:
    annotations = thing.get("metadata", {}).get("annotations") or {}
    return {key.removeprefix(PREFIX): value for key, value in annotations.items() if key.startswith(PREFIX)}


def _read(told: Mapping[str, str]) -> Script:
    unknown = set(told) - set(TYPES)
    if unknown:
        raise ValueError(f"the fake kubelet knows no {PREFIX}{min(unknown)}")
    values: dict[str, Any] = {}
    for key, text in told.items():
        kind = TYPES[key]
        values[key.replace("-", "_")] = text == "true" if kind is bool else kind(text)
    return Script(**values)


def _with_duration(script: Script, pod: Mapping[str, Any]) -> Script:
    if script.duration >= 0:
        return script
    always = pod["spec"].get("restartPolicy", "Always") == "Always"
    return replace(script, duration=float("inf") if always else 2.0)
