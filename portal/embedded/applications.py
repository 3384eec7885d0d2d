"""The portal's own processes: web server, two workers, beat, and the one-shots that prepare database and demo."""

import http.client
import signal
import sys
from collections.abc import Mapping

from portal.embedded.process import Spec

WEB_WORKERS = 2
WEB_THREADS = 32
IO_THREADS = 8


def prepare(env: Mapping[str, str]) -> Spec:
    """Migrations and demo data, as the role that owns the tables."""
    return Spec(
        name="prepare",
        title="Preparing the database",
        argv=(sys.executable, "-m", "portal.embedded.prepare"),
        env={**env, "PORTAL_AS_OWNER": "true"},
        is_ready=lambda _pid: True,
    )


def demo(env: Mapping[str, str]) -> Spec:
    """The demo fleet and its past, behind the first page."""
    return Spec(
        name="demo",
        title="The demo fleet",
        argv=(sys.executable, "manage.py", "seed_fleet"),
        env=env,
        is_ready=lambda _pid: True,
    )


def web(env: Mapping[str, str], host: str, port: int) -> Spec:
    """gunicorn with threads. Its master gets TERM when the supervisor vanishes, and ends its own workers."""
    return Spec(
        name="web",
        title="The web server",
        argv=(
            *(sys.executable, "-m", "gunicorn", "portal.wsgi:application", "--preload"),
            *("--bind", f"{host}:{port}", "--worker-class", "gthread"),
            *("--workers", str(WEB_WORKERS), "--threads", str(WEB_THREADS)),
            *("--graceful-timeout", "5", "--no-control-socket", "--access-logfile", "-"),
        ),
        env=env,
        is_ready=lambda _pid: _is_healthy(host, port),
        death_signal=signal.SIGTERM,
    )


def background(env: Mapping[str, str], beat_file: str) -> list[Spec]:
    """The worker for I/O, the worker for the scheduling cycle, and the clock.

    Beat has a process of its own: as a part of the worker it could die alone and nobody would notice.
    """
    quiet = ("--without-gossip", "--without-mingle", "--loglevel", "INFO")
    io = ("worker", "-Q", "io", "-n", "io@armillary", "-P", "threads", "-c", str(IO_THREADS), *quiet)
    cycle = ("worker", "-Q", "cycle", "-n", "cycle@armillary", "-P", "solo", *quiet)
    beat = ("beat", "--schedule", beat_file, "--pidfile", "", "--loglevel", "INFO")
    return [
        _celery("worker-io", "The worker", io, env),
        _celery("worker-cycle", "The scheduling worker", cycle, env),
        _celery("beat", "The clock", beat, env),
    ]


def _celery(name: str, title: str, arguments: tuple[str, ...], env: Mapping[str, str]) -> Spec:
    return Spec(
        name=name,
        title=title,
        argv=(sys.executable, "-m", "celery", "-A", "portal.celery:app", *arguments),
        env=env,
        is_ready=lambda _pid: True,
        # QUIT hands a task that still runs back to the queue.
        stop_signals=(signal.SIGTERM, signal.SIGQUIT),
    )


def _is_healthy(host: str, port: int) -> bool:
    """Whether the health page says that the web server reaches its servers."""
    address = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    connection = http.client.HTTPConnection(address, port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
