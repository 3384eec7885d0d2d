"""What the API of jobs takes and shows of jobs."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from jobs.models import Attempt, Job, JobEvent
from jobs.outputs import KINDS
from jobs.retry_words import Retry
from jobs.scheduler.decision import Verdict
from jobs.selectors.cluster_words import cluster_words
from jobs.selectors.jobs import GROUPS
from jobs.selectors.logs import CHUNK
from jobs.sentences import sentence
from jobs.states import JobState, RailStage
from portal.lib.rest import inputs
from portal.lib.rest.outputs import ClassUse, Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from portal.lib.text import clean_slug
from resources.task_types import TASK_TYPES

# --- taken --------------------------------------------------------------------------------------------


class JobsQuery(PageQuery):
    """Which jobs, newest first."""

    group = inputs.choice(GROUPS, help_text="Only jobs in this group of states.")
    project = inputs.key(help_text="Only jobs of this project.")
    type = inputs.choice(TASK_TYPES, help_text="Only jobs of this task type.")
    mine = inputs.flag(help_text="Only jobs you submitted.")
    q = inputs.text(200, help_text="Part of the name of the job or its project.")
    state = inputs.choice([state.value for state in JobState], help_text="Only jobs in this state.")
    template = inputs.text(63, help_text="Only jobs of the template with this slug.")
    team = inputs.text(63, help_text="Only jobs of the team with this slug and of those below it.")
    submitter = inputs.text(150, help_text="Only jobs of the person with this user name.")
    pool = inputs.text(63, help_text="Only jobs that were or wait in the pool with this key.")
    cluster = inputs.text(63, help_text="Only jobs that were on the cluster with this key.")
    reason = inputs.text(60, help_text="Only jobs whose reason is this constant.")
    uses = inputs.key(help_text="Only jobs that started from the artifact with this id.")
    since = inputs.moment(help_text="Only jobs submitted then or later.")
    until = inputs.moment(help_text="Only jobs submitted before then.")
    ended_since = inputs.moment(help_text="Only jobs that ended then or later.")
    led = inputs.flag(help_text="Only jobs of the teams you lead.")
    never = inputs.flag(help_text="Only jobs that wait and cannot start as things are.")


class ArtifactsQuery(PageQuery):
    """Which artifacts, newest first."""

    kind = inputs.choice((*KINDS, "log"), help_text="Only artifacts of this kind; without it everything but logs.")
    project = inputs.key(help_text="Only artifacts of this project.")
    q = inputs.text(200, help_text="Part of the name of the artifact or of the job that made it.")


class QueueQuery(PageQuery):
    """Which jobs of the queue."""

    pool = inputs.text(63, help_text="Only jobs that wait in the pool with this key.")
    project = inputs.text(63, help_text="Only jobs of the project with this slug.")
    reason = inputs.text(60, help_text="Only jobs whose reason is this constant.")


class NewJob(inputs.Input):
    """What to run. What is left out is the template's default; amounts are per member."""

    template = inputs.Given(
        clean_slug, {"type": "string", "maxLength": 63}, required=True, help_text="Slug of the template."
    )
    project = inputs.key(required=True, help_text="Id of the project it belongs to.")
    name = inputs.raw({"type": "string", "minLength": 1, "maxLength": 200})
    params = inputs.raw({"type": "object", "additionalProperties": True}, help_text="As the template's schema says.")
    members = inputs.raw({"type": "integer", "minimum": 1})
    cpu = inputs.raw({"type": "string", "maxLength": 16, "example": "0.5"}, help_text="Cores.")
    memory = inputs.raw({"type": "string", "maxLength": 16, "example": "4Gi"})
    device_class = inputs.raw({"type": "string", "maxLength": 63})
    pool = inputs.raw({"type": "string", "maxLength": 63}, help_text="Key of a pool; left out, any that fits.")
    devices = inputs.raw({"type": "integer", "minimum": 0})
    time_limit = inputs.raw({"type": "string", "maxLength": 8, "example": "30m"})
    max_wait = inputs.raw({"type": "string", "maxLength": 8, "example": "2h"})
    run_again_of = inputs.key(help_text="The job this one repeats.")


class LogQuery(inputs.Input):
    """Which part of a log."""

    member = inputs.whole(0, 100_000, default=0)
    offset = inputs.whole(-(10**15), 10**15, default=0, help_text="In bytes; below 0 counts from the end.")
    limit = inputs.whole(1, CHUNK, default=CHUNK, help_text="At most so many bytes.")


# --- shown --------------------------------------------------------------------------------------------


class JobProject(Shown):
    """The project a job belongs to."""

    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()


class Person(Shown):
    """Somebody."""

    id = serializers.UUIDField()
    name = serializers.CharField(source="__str__")


class JobRow(Shown):
    """A job, what it is doing and why. The context holds `now`, against which ages are told."""

    id = serializers.UUIDField()
    ref = serializers.CharField()
    name = serializers.CharField()
    state = Word("JobState", JobState)
    reason = serializers.CharField()
    sentence = serializers.SerializerMethodField()
    facts = Facts()
    reason_at = Moment()
    task_type = Word("TaskType", TASK_TYPES)
    template = serializers.CharField(source="template_version.template.slug")
    template_version = serializers.IntegerField(source="template_version.number")
    project = JobProject()
    submitter = Person()
    priority_class = serializers.CharField()
    submitted_at = Moment()
    finished_at = Moment(allow_null=True)
    archived_at = Moment(allow_null=True)

    def get_sentence(self, job: Job) -> str:
        """The reason and its facts in the language of the request."""
        return sentence(job.reason, job.facts, self.context["now"])


class Line(Shown):
    """An amount of one class for one member, in base units."""

    class_key = serializers.CharField()
    resource = serializers.CharField()
    amount = serializers.IntegerField()


class Size(Shown):
    """How many members there are and what each gets."""

    members = serializers.IntegerField()
    lines = Line(many=True)


class Stage(Shown):
    """A stop of the rail."""

    key = Word("RailStage", RailStage)
    label = serializers.CharField()  # type: ignore[assignment]
    status = Word("StageStatus", ("done", "now", "next", "warn", "bad"))
    time = Moment(allow_null=True)
    cause = serializers.CharField()


class ClusterWord(Shown):
    """The cluster's own words about some members."""

    members = serializers.ListField(child=serializers.IntegerField())
    reason = serializers.CharField()
    message = serializers.CharField()


class AttemptRow(Shown):
    """One try on one cluster, with its times t2 to t8."""

    number = serializers.IntegerField()
    cluster = serializers.CharField(source="cluster.key")
    pool_key = serializers.CharField()
    nodes = serializers.SerializerMethodField()
    members = serializers.SerializerMethodField()
    reserved_at = Moment()
    admitted_at = Moment()
    bound_at = Moment(allow_null=True)
    started_at = Moment(allow_null=True)
    ready_at = Moment(allow_null=True)
    stopped_at = Moment(allow_null=True)
    released_at = Moment(allow_null=True)
    ended = serializers.BooleanField()
    resumed = serializers.BooleanField()
    exit_code = serializers.IntegerField(allow_null=True)
    end_reason = serializers.CharField()
    end_sentence = serializers.SerializerMethodField()
    end_facts = Facts()
    addresses = serializers.ListField()
    cluster_words = serializers.SerializerMethodField()
    log_trouble = Facts(
        help_text="Since when which logs could not be read, and whether they were given up; empty: none."
    )
    corrected_times = Facts(help_text="What the cluster said of times that cannot have been, by name.")

    @extend_schema_field(ClusterWord(many=True))
    def get_cluster_words(self, attempt: Attempt) -> list[dict[str, Any]]:
        """What the cluster says about members that wait or failed, in its own words."""
        return [asdict(said) for said in cluster_words(attempt)]

    def get_nodes(self, attempt: Attempt) -> list[str]:
        """Names of the nodes, each once."""
        return sorted({str(member["node"]) for member in attempt.placement})

    def get_members(self, attempt: Attempt) -> int:
        """How many members were placed."""
        return len(attempt.placement)

    def get_end_sentence(self, attempt: Attempt) -> str:
        """Why it ended, "" while it has not."""
        now = self.context["now"]
        return sentence(attempt.end_reason, attempt.end_facts, now) if attempt.end_reason else ""


class Level(Shown):
    """One thing that came back: whether it was seen to, and how long after the last process ended."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    observed = Word("Observed", ("seen", "missing", "unobserved", "waiting"))
    text = serializers.CharField()
    after_ms = serializers.IntegerField(allow_null=True)
    read_at = Moment(allow_null=True, help_text="When the reading behind it was made.")


class Proof(Shown):
    """The proof that an attempt gave back what it held."""

    attempt = serializers.IntegerField()
    stopped_at = Moment()
    completed_at = Moment(allow_null=True)
    leaked_at = Moment(allow_null=True)
    levels = Level(many=True)
    returned = Level(many=True)


class UsageSoFar(Shown):
    """Entered in the ledger, and beside it what is not entered yet and still grows."""

    entered = ClassUse(many=True)
    open = ClassUse(many=True)


class JobColumns(JobRow):
    """All that the job's own row says. The context holds `now`."""

    params = Facts()
    pool_keys = serializers.ListField(child=serializers.CharField())
    time_limit_ms = serializers.IntegerField(allow_null=True)
    max_wait_ms = serializers.IntegerField(allow_null=True)
    max_attempts = serializers.IntegerField()
    run_again_of = serializers.UUIDField(source="run_again_of_id", allow_null=True)
    archive_note = serializers.CharField()


class ReportedFigure(Shown):
    """A value by its name in the file."""

    name = serializers.CharField()
    value = serializers.JSONField(allow_null=True)


class Report(Shown):
    """What a result file says; `left_out` counts the values that are only in the file."""

    artifact = serializers.UUIDField(source="artifact.pk")
    file = serializers.CharField(source="artifact.name")
    metrics = ReportedFigure(many=True)
    about = ReportedFigure(many=True)
    left_out = serializers.IntegerField()


class StartedFrom(Shown):
    """An input of a job, and the job that made it."""

    artifact = serializers.UUIDField(source="pk")
    name = serializers.CharField()
    kind = serializers.CharField()
    job = serializers.UUIDField(source="job_id")


class JobParts(Shown):
    """All that is read beside the job's row, see `pieces.parts_of`. The context holds `now`."""

    size = Size()
    retry = Word(
        "JobRetry", Retry, allow_null=True, help_text="When a failed job can run again; null for one that did not fail."
    )
    next_step = serializers.CharField(help_text="Whether it is tried again and what to do; empty unless it failed.")
    stages = Stage(many=True)
    attempts = AttemptRow(many=True)
    proofs = Proof(many=True)
    usage = UsageSoFar()
    results = Report(many=True)
    inputs = StartedFrom(many=True)


class JobDetail(JobColumns, JobParts):
    """A job with everything its page shows."""


class EventRow(Shown):
    """Something that happened to a job. The context holds `now`."""

    id = serializers.UUIDField()
    at = Moment()
    recorded_at = Moment()
    kind = serializers.CharField()
    old = serializers.CharField()
    new = serializers.CharField()
    reason = serializers.CharField()
    sentence = serializers.SerializerMethodField()
    facts = Facts()
    attempt_id = serializers.UUIDField(allow_null=True)
    actor_id = serializers.UUIDField(allow_null=True)
    actor_name = serializers.CharField()

    def get_sentence(self, event: JobEvent) -> str:
        """The reason and its facts in the language of the request."""
        return sentence(event.reason, event.facts, self.context["now"])


class ArtifactRow(Shown):
    """A file or folder a job left. `id` can be given to a parameter of another job."""

    id = serializers.UUIDField()
    job = serializers.UUIDField(source="job_id")
    project = serializers.UUIDField(source="project_id")
    attempt = serializers.IntegerField(source="attempt.number")
    name = serializers.CharField()
    kind = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    created_at = Moment()
    keep_until = Moment(allow_null=True)


class FileRow(Shown):
    """A single file: `path` is below the artifact's folder, "" for an artifact that is the file itself."""

    artifact = serializers.UUIDField()
    name = serializers.CharField()
    path = serializers.CharField()
    bytes = serializers.IntegerField()


class FileList(Shown):
    """The files of a job."""

    results = FileRow(many=True)


class QueueHolder(Shown):
    """Who holds what is waited for; `job` is null for a job the reader may not see."""

    job = serializers.UUIDField(source="job.pk", allow_null=True)
    amount = serializers.IntegerField()
    ends_at = Moment(allow_null=True, help_text="When its time limit ends it; null: nothing bounds it.")


class QueueRow(JobRow):
    """A job that waits. `position` counts everybody in the pool's queue, 1 first; null: in no pool's queue."""

    pool_key = serializers.CharField(source="facts.pool_key", default=None, allow_null=True)
    position = serializers.IntegerField(source="facts.queue_position", default=None, allow_null=True)
    total = serializers.IntegerField(source="facts.queue_total", default=None, allow_null=True)
    holders = serializers.SerializerMethodField()

    @extend_schema_field(QueueHolder(many=True))
    def get_holders(self, job: Job) -> Any:
        """The first to end first."""
        return QueueHolder(self.context["holders"].get(job.pk, []), many=True).data


class VerdictShown(Shown):
    """Would it start? The answer the next cycle would give, behind everyone who waits."""

    verdict = Word("Verdict", (Verdict.NOW, Verdict.WAIT, Verdict.NEVER))
    reason = serializers.CharField()
    sentence = serializers.CharField()
    facts = Facts()
    pool_key = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())
    size = Size()
    price_micro_hour = serializers.IntegerField(
        allow_null=True, help_text="While it is held, in millionths of the rates' currency; null is unrated, never 0."
    )


JobPage = page_of(JobRow)
EventPage = page_of(EventRow)
ArtifactPage = page_of(ArtifactRow)
QueuePage = page_of(QueueRow)
