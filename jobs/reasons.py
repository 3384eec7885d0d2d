"""Every reason a job may carry: its constant (part of the API), whose move it is, its sentence and its facts.

Messages are English templates with named placeholders, marked by `N_` for extraction and translated where they
are shown. A placeholder means the same in every message, see `FACTS`; a reason's facts are those it names.
"""

from __future__ import annotations

import string
from enum import StrEnum


def N_(message: str) -> str:  # noqa: N802 - gettext's own name for a marker that changes nothing
    """The message itself: marks it for extraction, so that this module stays free of Django."""
    return message


class Kind(StrEnum):
    """What a reason says about its job."""

    PROGRESS = "progress"  # it moved on
    WAIT = "wait"  # it starts when something is freed or its turn comes
    NEVER = "never"  # it cannot start by today's rules and inventory
    HELD = "held"  # somebody or some date must let it go first
    END = "end"  # it ended as somebody or some rule wanted
    FAILURE = "failure"  # it ended otherwise
    RELEASE = "release"  # about what it held


class Side(StrEnum):
    """Who can do something about it."""

    USER = "user"
    ADMIN = "admin"
    PLATFORM = "platform"


class Fact(StrEnum):
    """How a fact is stored and shown."""

    TEXT = "text"
    COUNT = "count"
    AMOUNT = "amount"  # base units of the fact `resource`; of devices, parts of `whole` (else of 42,000)
    UNIT = "unit"  # not stored: the unit word of `resource`, made at display
    INSTANT = "instant"  # UTC milliseconds
    SINCE = "since"  # UTC milliseconds; shown as the age it has when it is read
    SPAN = "span"  # milliseconds
    NAMES = "names"  # tuple of text
    LINES = "lines"  # tuple of (class name, resource, amount)
    CAUSES = "causes"  # tuple of (cause, number of nodes)


FACTS: dict[str, Fact] = {
    **dict.fromkeys(("need", "free", "total", "max", "used", "nominal", "best", "alt_need"), Fact.AMOUNT),
    **dict.fromkeys(("idle", "held"), Fact.AMOUNT),
    **dict.fromkeys(("nodes", "ready", "min", "match", "k", "down"), Fact.COUNT),
    **dict.fromkeys(("i", "pods", "running", "most", "code", "files", "count"), Fact.COUNT),
    **dict.fromkeys(("project", "pool", "cluster", "res", "role", "node", "cause", "detail", "image"), Fact.TEXT),
    **dict.fromkeys(("asked", "highest", "label", "class_key", "who", "note", "have_arch", "want_arch"), Fact.TEXT),
    **dict.fromkeys(("runtime", "level", "winner", "card", "support_id", "group", "owner"), Fact.TEXT),
    **dict.fromkeys(("limit", "longest", "wait", "ran", "gap"), Fact.SPAN),
    "t": Fact.INSTANT,
    "age": Fact.SINCE,
    "u": Fact.UNIT,
    "list": Fact.NAMES,
    "what": Fact.LINES,
    "causes": Fact.CAUSES,
}
_P, _W, _N, _H, _E, _F, _R = Kind
_USER, _ADMIN, _PLATFORM = Side


class Reason(StrEnum):
    """A reason: value, glossary code ("" where it has none), kind, side, message, and when it is said."""

    code: str
    kind: Kind
    side: Side
    message: str
    doc: str

    def __new__(cls, value: str, code: str, kind: Kind, side: Side, message: str, doc: str) -> Reason:
        """A member that is its own PascalCase constant."""
        self = str.__new__(cls, value)
        self._value_ = value
        self.code, self.kind, self.side, self.message, self.doc = code, kind, side, message, doc
        return self

    @property
    def placeholders(self) -> frozenset[str]:
        """The names in the message's braces."""
        return frozenset(name for _, name, _, _ in string.Formatter().parse(self.message) if name)

    @property
    def required_facts(self) -> frozenset[str]:
        """The facts that must come with this reason: its placeholders, and the resource behind amounts."""
        kinds = {FACTS[name] for name in self.placeholders}
        stored = {name for name in self.placeholders if FACTS[name] is not Fact.UNIT}
        return frozenset(stored | ({"resource"} if Fact.AMOUNT in kinds else set()))

    # fmt: off
    # -- it moved on -----------------------------------------------------------------------------------------
    SUBMITTED = "Submitted", "", _P, _USER, N_("Submitted."), "The job was accepted and joined the queue."
    HOLD_LIFTED = "HoldLifted", "", _P, _ADMIN, N_("Let go by {who}."), "A held job joined the queue."
    CHANGED = "Changed", "", _P, _USER, N_("Changed by {who} so that it can start: {cause}."), \
        "A waiting job was given another size, limit, pool or class."
    ADMITTED = "Admitted", "", _P, _PLATFORM, N_("Admitted to pool {pool}; nodes: {nodes}."), \
        "The cycle reserved quota and named the nodes."
    START_REQUESTED = "StartRequested", "", _P, _PLATFORM, N_("Start requested on cluster {cluster}."), \
        "Reconcile claimed the job before it asks the cluster."
    WAITING_FOR_CLUSTER = "WaitingForCluster", "", _P, _PLATFORM, \
        N_("{ready} of {pods} replicas are up on cluster {cluster}."), \
        "Created on the cluster, not yet all up."
    RUNNING = "Running", "", _P, _PLATFORM, N_("Running; nodes: {nodes}."), "Every replica was seen to be up."
    STOP_REQUESTED = "StopRequested", "", _P, _PLATFORM, N_("Stop requested: {cause}."), \
        "The job was told to stop and has not yet been seen to."
    PLACEMENT_WITHDRAWN = "PlacementWithdrawn", "", _P, _PLATFORM, \
        N_("Placement withdrawn: {cause}. Queued again."), \
        "An admitted job gave its reservation back before anything was created."
    REQUEUED = "Requeued", "", _P, _PLATFORM, N_("Queued again as attempt {i}: {cause}."), \
        "A new attempt of the same job waits."
    # -- invalid or never ------------------------------------------------------------------------------------
    CLASS_NOT_FOUND = "ClassNotFound", "", _N, _ADMIN, \
        N_("Resource class {class_key} does not exist. Choose another class, or ask an administrator."), \
        "A demand or a quota cell names a class that the catalogue does not have."
    POOL_NOT_FOUND = "PoolNotFound", "", _N, _ADMIN, N_("Pool {pool} does not exist. Choose another pool."), \
        "A job or a quota cell names a pool that does not exist."
    EMPTY_DEMAND = "EmptyDemand", "", _N, _USER, \
        N_("The job asks for nothing, or for less than nothing. Name at least one amount above 0."), \
        "No pod set, none with an amount, or a negative amount or count."
    DEVICE_AMOUNT = "DeviceAmount", "", _N, _USER, \
        N_("{need} {u} of {res} cannot be given: ask for whole cards, or for a part of one card where "
           "it is shared."), \
        "A device demand is neither whole devices nor a part of one of a divisible class."
    NO_HOST_OF_CLASS = "NoHostOfClass", "", _N, _ADMIN, \
        N_("No node of pool {pool} has {res}. Choose another class or pool."), \
        "The pool has no node with that class, in service or not."
    ABOVE_LARGEST_NODE = "AboveLargestNode", "", _N, _USER, \
        N_("{need} {u} {res} needed on one node; the largest node of pool {pool} has {max} {u}."), \
        "One replica is larger than the largest node even when it is empty."
    ABOVE_POOL_TOTAL = "AbovePoolTotal", "", _N, _USER, \
        N_("{need} {u} {res} needed; pool {pool} has {max} {u} in one cluster at most."), \
        "The whole job is larger than what the pool has in one cluster, even when it is empty."
    ABOVE_POOL_ROOM = "AbovePoolRoom", "", _N, _USER, \
        N_("Even when empty, pool {pool} has room for {ready} of {count} replicas of this size."), \
        "Every amount exists, but not together on enough nodes, even when all are empty."
    LABELS_UNMATCHED = "LabelsUnmatched", "S07", _N, _USER, \
        N_('{match} of {nodes} nodes match all {k} labels; "{label}" excludes most.'), \
        "Too few nodes carry the labels the job requires, so that it fits on none of them even when empty."
    ABOVE_CEILING = "AboveCeiling", "Q02", _N, _USER, \
        N_("{need} {u} {res} is above the ceiling of {max} {u} for {project}. Lower it to {max} or "
           "ask for a quota change."), \
        "More than the tenant may ever use in the pool, its own ceiling and others' guarantees counted."
    BORROWING_OFF = "BorrowingOff", "", _N, _USER, \
        N_("{need} {u} {res} is above the normal quota of {max} {u} for {project}, and pool {pool} "
           "does not lend. Lower it to {max} or ask for a quota change."), \
        "More than the nominal quota where borrowing is switched off."
    ABOVE_LARGEST_JOB = "AboveLargestJob", "", _N, _USER, \
        N_("{need} {u} is above the largest job of {max} {u} that {project} may run in pool {pool}."), \
        "The grant bounds one job's size."
    ABOVE_LONGEST_LIMIT = "AboveLongestLimit", "", _N, _USER, \
        N_("Time limit {limit} is above the longest one for {project} in pool {pool}, {longest}."), \
        "The grant bounds the time limit."
    TIME_LIMIT_MISSING = "TimeLimitMissing", "", _N, _USER, \
        N_("Pool {pool} asks {project} for a time limit of at most {longest}; this job has none."), \
        "The grant bounds the time limit and the job has none."
    ABOVE_PRIORITY_CEILING = "AbovePriorityCeiling", "", _N, _USER, \
        N_("Priority class {asked} is above {highest}, the highest one for {project} in pool {pool}."), \
        "The grant bounds the priority class."
    RUNTIME_NOT_VALIDATED = "RuntimeNotValidated", "S11", _N, _USER, \
        N_("{runtime} on {res} is to be validated. Validated choices: {list}."), \
        "The runtime is not declared for the resource class."
    # -- held ------------------------------------------------------------------------------------------------
    APPROVAL_PENDING = "ApprovalPending", "A01", _H, _ADMIN, \
        N_("Waiting for approval by {role}, {age} so far."), "A request of this job is not decided yet."
    HELD_BY_OPERATOR = "HeldByOperator", "", _H, _ADMIN, N_("Held by {who}: {note}"), \
        "A person put this job on hold."
    PROJECT_HELD = "ProjectHeld", "", _H, _ADMIN, N_("New starts of {project} are on hold ({cause})."), \
        "The project or a team above it is on hold, for instance because its budget is used up."
    POOL_PAUSED = "PoolPaused", "Q11", _H, _ADMIN, \
        N_("Admission to pool {pool} is paused ({cause}). The job keeps its place."), \
        "The pool takes nothing new."
    POOL_NOT_GRANTED = "PoolNotGranted", "S09", _H, _ADMIN, \
        N_("Pool {pool} is not granted to {project}. Granted: {list}. A grant can be requested."), \
        "No grant for the project or a team above it is valid now."
    NO_POOL = "NoPool", "", _H, _ADMIN, N_("{project} has no pool to run in. A grant can be requested."), \
        "The job names no pool at all."
    POOL_REFUSES = "PoolRefuses", "", _H, _ADMIN, \
        N_("By their rules none of these pools takes a job of this type and runtime: {list}. Ask who looks after one, "
           "or run the job again in another pool."), \
        "The admission rules of every pool it could run in leave out its task type or its runtime."
    GRANT_NOT_STARTED = "GrantNotStarted", "", _H, _PLATFORM, \
        N_("The grant of pool {pool} to {project} starts at {t}."), "The only grant lies in the future."
    BACKED_OFF = "BackedOff", "", _H, _PLATFORM, N_("Next try at {t} (try {i})."), \
        "A start failed; the next one waits a while."
    STALE_CLUSTER = "StaleCluster", "S10", _H, _PLATFORM, \
        N_("Cluster {cluster} last reported {age} ago; placement there waits for fresh data."), \
        "The job would fit on a cluster that has not reported in time."
    # -- waiting ---------------------------------------------------------------------------------------------
    QUOTA_FULL = "QuotaFull", "Q01", _W, _USER, \
        N_("Waiting for quota: {project} uses {used} of {nominal} {u} {res}; this job needs {need}. "
           "Reduce the request or wait."), \
        "The nominal quota is in use and may not be exceeded."
    CEILING_REACHED = "CeilingReached", "", _W, _USER, \
        N_("Waiting for quota: {project} uses {used} of at most {max} {u} {res}; this job needs {need}."), \
        "The ceiling would be passed."
    NOTHING_TO_BORROW = "NothingToBorrow", "Q04", _W, _PLATFORM, \
        N_("{group} has {idle} {u} {res} to lend; {need} needed."), "What the group owns is in use."
    LENDER_KEEPS = "LenderKeeps", "", _W, _PLATFORM, \
        N_("{group} has {idle} {u} {res} idle, but other members keep it as their guarantee; {need} "
           "needed."), \
        "Idle quota exists, but only as guarantees, which are never lent."
    TOO_MANY_AT_ONCE = "TooManyAtOnce", "Q13", _W, _USER, \
        N_("{project} runs {running} of {most} jobs allowed at once. Starts after one ends."), \
        "The grant bounds how many jobs run at once."
    INSUFFICIENT_CAPACITY = "InsufficientCapacity", "S01", _W, _PLATFORM, \
        N_("Pool {pool} has {free} of {total} {u} {res} free; {need} needed."), "Too little is free in all."
    FRAGMENTED = "Fragmented", "S02", _W, _USER, \
        N_("{free} {u} {res} are free on {nodes} nodes, at most {best} on one; {need} on one node "
           "needed. Try {alt_need} per node."), \
        "Enough is free in all, but not on one node."
    NO_WHOLE_DEVICE = "NoWholeDevice", "", _W, _PLATFORM, \
        N_("{free} {u} {res} are free, but only {best} of it as whole cards; {need} needed."), \
        "Enough is free in all, but too many devices are partly in use."
    NO_NODE_FITS = "NoNodeFits", "", _W, _USER, \
        N_("None of {nodes} nodes has room for one replica: {causes}."), \
        "Each amount is free on some node, but never all on the same one."
    GANG_INCOMPLETE = "GangIncomplete", "S03", _W, _PLATFORM, \
        N_("{ready} of {min} members can be placed together; the job starts when all {min} fit."), \
        "Some replicas would fit, but not all at the same time in one cluster."
    NODES_UNAVAILABLE = "NodesUnavailable", "S08", _W, _PLATFORM, \
        N_("{down} of {nodes} matching nodes are unhealthy or in maintenance ({causes})."), \
        "The job would fit if nodes or devices out of service were back."
    HOSTS_EXCLUDED = "HostsExcluded", "", _W, _PLATFORM, \
        N_("{down} of {nodes} nodes are left out for this job after a failed start there."), \
        "The job would fit on a node it is kept away from."
    DRIVERS_OUTSIDE = "DriversOutside", "", _W, _ADMIN, \
        N_("{down} of {nodes} nodes that fit have drivers for which runtime {runtime} was not declared."), \
        "The job would fit if the drivers of more nodes were within the range that its runtime states."
    BEHIND_OTHERS = "BehindOthers", "Q06", _W, _PLATFORM, \
        N_("Jobs ahead in the queue took what was free."), \
        "The job would have fitted when the pass began."
    MAKING_ROOM = "MakingRoom", "", _W, _PLATFORM, \
        N_("{count} jobs are being stopped to make room for it; it starts when they have given back what they hold."), \
        "Running jobs were asked to stop for it."
    KEPT_FOR_EARLIER = "KeptForEarlier", "S05", _W, _PLATFORM, \
        N_("{held} {u} {res} are held for an earlier job from {t}. Jobs shorter than {gap} can run before that."), \
        "It would fit, but would delay the job that room is kept for."
    NO_RUN_LIMIT = "NoRunLimit", "S06", _W, _USER, \
        N_("{held} {u} {res} are held for an earlier job from {t}, and this job has no run-time limit. Set one of "
           "{gap} or less to run before that."), \
        "It would fit, but nothing says that it ends before the job that room is kept for."
    KEPT_WITHOUT_TIME = "KeptWithoutTime", "", _W, _PLATFORM, \
        N_("{held} {u} {res} are held for an earlier job; when it starts is not known yet."), \
        "It would fit, but would delay the job that room is kept for, and nothing says when that one starts."
    NOT_EVALUATED = "NotEvaluated", "", _W, _PLATFORM, N_("Not looked at yet."), \
        "No cycle has run since the job was submitted or changed."
    # -- ended as wanted -------------------------------------------------------------------------------------
    SUCCEEDED = "Succeeded", "", _E, _USER, N_("Ended with success after {ran}."), \
        "Every replica was seen to succeed."
    CANCELLED_BY_USER = "CancelledByUser", "", _E, _USER, N_("Cancelled by {who}."), \
        "A person stopped the job."
    DECLINED = "Declined", "A02", _E, _ADMIN, \
        N_('Not approved by {role} at {t}: "{note}". Edit and submit again.'), "The request was declined."
    TIME_LIMIT = "TimeLimitReached", "E05", _E, _USER, N_("Run-time limit {limit} reached at {t}."), \
        "The job ran as long as it may."
    TIME_TO_LIVE = "TimeToLiveReached", "", _E, _USER, N_("Kept for {limit} as asked, until {t}."), \
        "An interactive job's time-to-live is over."
    MAX_WAIT = "MaxWaitExceeded", "", _E, _USER, \
        N_("Could not start within {limit}, the longest it was to wait."), \
        "The job's own bound on waiting passed."
    RECLAIMED = "Reclaimed", "E02", _E, _PLATFORM, \
        N_("Stopped at {t}: what it had borrowed in pool {pool} went back to {owner}; it waits for its turn again."), \
        "A tenant took back what is normally its own from who held more than was theirs."
    EVENED_OUT = "EvenedOut", "", _E, _PLATFORM, \
        N_("Stopped at {t}: {owner} had less than its share of pool {pool}; it waits for its turn again."), \
        "Where no quota says whose it is, a tenant with a smaller share took some from one with a larger."
    PREEMPTED = "Preempted", "E01", _E, _PLATFORM, \
        N_("Stopped at {t} for job {winner} of the same project, which goes first; it waits for its turn again."), \
        "The attempt made room for another job."
    # -- failures --------------------------------------------------------------------------------------------
    NEVER_FITS = "NeverFits", "", _F, _USER, N_("Ended because it can never start: {cause}"), \
        "Policy ends jobs that can never fit; the cause is the NEVER reason."
    NODE_LOST = "NodeLost", "E03", _F, _PLATFORM, N_("Node {node} left service at {t} ({cause})."), \
        "A node the attempt ran on went away."
    READY_TIMEOUT = "ReadyTimeout", "E04", _F, _PLATFORM, \
        N_("{ready} of {pods} replicas ready after {wait}."), \
        "Not everything was up in the time a start may take."
    IMAGE_UNAVAILABLE = "ImageUnavailable", "F01", _F, _USER, \
        N_("Image {image} could not be pulled on {nodes} nodes: {detail}. Check name, tag, and access."), \
        "The image could not be fetched."
    IMAGE_MISMATCH = "ImageMismatch", "F02", _F, _USER, \
        N_("Image is {have_arch}, node is {want_arch}. Use a {want_arch} image."), \
        "Built for another architecture."
    RUNTIME_MISMATCH = "RuntimeMismatch", "F03", _F, _USER, \
        N_("Runtime {runtime} does not fit {node}: {detail}."), \
        "Driver or operator support is not what it needs."
    MEMORY_LIMIT = "MemoryLimit", "F04", _F, _USER, \
        N_("Memory use reached {max} {u} and the process was ended."), "The memory limit ended a process."
    APPLICATION_FAILED = "ApplicationFailed", "F05", _F, _USER, \
        N_("Application ended with exit code {code} after {ran}. See the last log lines."), \
        "The program itself ended with an error."
    DEVICE_FAULT = "DeviceFault", "F06", _F, _PLATFORM, \
        N_("Card {card} on {node} reported a fault: {detail}."), "A device failed under the job."
    PLATFORM_FAULT = "PlatformFault", "F07", _F, _PLATFORM, \
        N_("The platform could not start this job ({detail}). Not counted as usage; support ID "
           "{support_id}."), \
        "Surely nothing was created, and the fault is ours."
    REJECTED_BY_CLUSTER = "RejectedByCluster", "", _F, _ADMIN, \
        N_("Cluster {cluster} refused the job: {detail}."), \
        "The cluster's own rules turned the workload down."
    OUTCOME_UNKNOWN = "OutcomeUnknown", "", _F, _PLATFORM, \
        N_("How the job ended was not observed: {detail}. It is not counted as a success."), \
        "It is gone, and nobody saw how it ended."
    # -- release ---------------------------------------------------------------------------------------------
    RELEASED = "Released", "R01", _R, _PLATFORM, \
        N_("Release confirmed at {t}: {what}, {files} temporary files, queue slot."), \
        "Everything was seen free."
    NOT_RELEASED = "NotReleased", "", _R, _PLATFORM, \
        N_("Waiting to see {what} free again, {age} since the end."), \
        "The job ended; what it held is not yet seen free."
    ARCHIVED = "Archived", "", _R, _PLATFORM, N_("Archived; files kept: {files}."), \
        "Logs and outputs are kept with their digests."
    RELEASE_NOT_OBSERVED = "ReleaseNotObserved", "", _R, _PLATFORM, \
        N_("{level}: not observed on cluster {cluster} ({detail})."), \
        "A level of the release proof cannot be seen."
    LEAKED = "Leaked", "R02", _R, _ADMIN, \
        N_("{what} still held {age} after the end. Owner {owner}; counted as release lag since {t}."), \
        "Not seen free in time: blocked for others, and an alert."
    # fmt: on


BY_VALUE: dict[str, Reason] = {reason.value: reason for reason in Reason}
"""A reason by its constant as stored."""
