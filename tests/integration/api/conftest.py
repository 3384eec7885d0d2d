"""The cast at noon of their day, with tokens in their hands, and the templates that come with the product."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from pytest_django import DjangoDbBlocker

from jobs import storage
from jobs.models import Attempt, Job, ReleaseRecord
from jobs.reasons import Reason
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.record_event import record_event
from jobs.states import JobState
from tenants.models import User
from tenants.services.create_token import create_token
from tests import builders as make
from tests.builders import GIB, NOW, ago
from tests.cast import Cast, cast, cast_rows

__all__ = ["Api", "As", "cast", "cast_rows"]
ROOT = "/api/v1"


@dataclass
class Api:
    """Somebody who speaks to the API with a token; without one, anonymously. Paths are below /api/v1."""

    client: Client
    headers: dict[str, str]

    def get(self, path: str, query: dict[str, Any] | None = None, **headers: str) -> HttpResponse:
        """GET with a query."""
        return self.client.get(ROOT + path, query or {}, headers=self.headers | headers)

    def post(self, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """POST a JSON body, or none."""
        return self.raw(path, b"" if body is None else json.dumps(body).encode(), **headers)

    def raw(self, path: str, body: bytes, content_type: str = "application/json", **headers: str) -> HttpResponse:
        """POST bytes as they are."""
        return self.client.post(ROOT + path, data=body, content_type=content_type, headers=self.headers | headers)

    def delete(self, path: str, **headers: str) -> HttpResponse:
        """DELETE."""
        return self.client.delete(ROOT + path, headers=self.headers | headers)


As = Callable[[User | None], Api]


@pytest.fixture(autouse=True)
def noon() -> Iterator[None]:
    """The wall clock stands still at `NOW`; tries of other tests are forgotten."""
    cache.clear()
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def as_user(db: None) -> As:
    """Somebody with a token of their own, or nobody."""

    def speak(user: User | None) -> Api:
        if user is None:
            return Api(Client(), {})
        _token, clear = create_token(user=user, name="tests", now=NOW)
        return Api(Client(), {"Authorization": f"Bearer {clear}"})

    return speak


@pytest.fixture(scope="module")
def templates(cast_rows: Cast, django_db_blocker: DjangoDbBlocker) -> None:
    """The shipped templates, for the rest of the module."""
    with django_db_blocker.unblock():
        publish_shipped_templates(now=NOW)


@pytest.fixture
def wanted(cast: Cast, templates: None) -> dict[str, Any]:
    """The least that a submit must say, for project alpha."""
    return {"template": "run-operation", "project": str(cast.alpha.pk)}


@pytest.fixture
def ended(cast: Cast) -> Job:
    """A job that ran for half an hour and gave everything back."""
    job = make.make_job(
        cast.alpha, cast.member, state=JobState.FAILED, reason=Reason.APPLICATION_FAILED, facts={"code": 3},
        submitted=ago(hours=2), finished_at=ago(minutes=30),
    )  # fmt: skip
    for minutes, new in ((120, "QUEUED"), (110, "ADMITTED"), (109, "STARTING"), (60, "RUNNING"), (30, "FAILED")):
        record_event(job=job, at=ago(minutes=minutes), now=ago(minutes=minutes), kind="state", new=new, reason="")
    allocation = make.make_allocation(
        job, cast.node, reserved=ago(minutes=110), bound=ago(minutes=109), started=ago(minutes=60),
        stopped=ago(minutes=30), released=ago(minutes=29),
    )  # fmt: skip
    placement = [{"index": 0, "node": "n1", "cpu": 1000, "memory": GIB, "devices": {}}]
    Attempt.objects.filter(job=job).update(
        placement=placement, exit_code=3, end_reason=Reason.APPLICATION_FAILED, end_facts={"code": 3}
    )
    ReleaseRecord.objects.create(
        allocation=allocation, stopped_at=ago(minutes=30), objects_gone_at=ago(minutes=29),
        objects_evidence={"left": 0}, completed_at=ago(minutes=29), quota_returned_at=ago(minutes=29),
    )  # fmt: skip
    return job


@pytest.fixture
def log(ended: Job, settings: Any, tmp_path: Path) -> Path:
    """The kept log of the job's only member."""
    settings.STATE_DIR = tmp_path
    folder = storage.folders(ended, ended.attempts.get()).archive
    folder.mkdir(parents=True)
    path = folder / "member-0.log"
    path.write_bytes("第一行 first\nsecond\x1b[31m\n".encode())
    return path
