"""Nonsense in the environment stops the start with a sentence that names the setting and the fix."""

import os
import subprocess
import sys

import pytest

GOOD = {
    "PORTAL_MODE": "production",
    "PORTAL_SECRET_KEY": "".join(chr(33 + i % 80) for i in range(60)),
    "PORTAL_VAULT_KEY": "qv3sXkT0cV8n1mJrB2yLwD5hEoGxUa7fPi9zQeRtYk0=",
    "PORTAL_DATABASE_URL": "postgresql://portal@db.internal/portal",
    "PORTAL_REDIS_URL": "redis://redis.internal/0",
}


def load(**changes: str | None) -> subprocess.CompletedProcess[str]:
    """Import the settings in a process of its own, with nothing of ours in its environment but these."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    given = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
    return subprocess.run(
        [sys.executable, "-c", "import portal.settings as s; print(s.MODE, s.CELERY_BROKER_URL)"],
        env=clean | given,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_whole_production_setting_loads():
    done = load()
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["production", "redis://redis.internal/0"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"PORTAL_SECRET_KEY": None}, "PORTAL_SECRET_KEY"),
        ({"PORTAL_SECRET_KEY": "x" * 60}, "PORTAL_SECRET_KEY"),
        ({"PORTAL_SECRET_KEY": "short-but-mixed-1234"}, "PORTAL_SECRET_KEY"),
        ({"PORTAL_VAULT_KEY": None}, "PORTAL_VAULT_KEY"),
        ({"PORTAL_VAULT_KEY": "secret"}, "PORTAL_VAULT_KEY"),
        ({"PORTAL_VAULT_KEY": "A" * 43 + "="}, "PORTAL_VAULT_KEY"),
        ({"PORTAL_CLUSTER_NETWORKS": "loopback"}, "PORTAL_CLUSTER_NETWORKS"),
        ({"PORTAL_DEBUG": "true"}, "PORTAL_DEBUG"),
        ({"PORTAL_DATABASE_URL": None}, "PORTAL_DATABASE_URL"),
        ({"PORTAL_REDIS_URL": None}, "PORTAL_REDIS_URL"),
        ({"PORTAL_EMBEDDED": "1"}, "PORTAL_DATABASE_URL"),
        ({"PORTAL_DATABASE_URL": "sqlite:///x"}, "postgresql://"),
        ({"PORTAL_MODE": "prod"}, "PORTAL_MODE"),
        ({"PORTAL_DEBUG": "perhaps"}, "PORTAL_DEBUG"),
        ({"PORTAL_SECRET_KEY": None, "PORTAL_SECRET_KEY_FILE": "/nonexistent"}, "PORTAL_SECRET_KEY_FILE"),
    ],
)
def test_production_refuses_to_start_and_names_what_is_wrong(change, named):
    done = load(**change)
    assert done.returncode != 0 and named in done.stderr and "Traceback" not in done.stderr


def test_a_secret_may_come_from_a_file(tmp_path):
    secret = tmp_path / "key"
    secret.write_text(GOOD["PORTAL_SECRET_KEY"] + "\n")
    assert load(PORTAL_SECRET_KEY=None, PORTAL_SECRET_KEY_FILE=str(secret)).returncode == 0


def test_a_unix_socket_is_named_for_the_broker_in_its_own_way():
    done = load(PORTAL_MODE="embedded", PORTAL_REDIS_URL="unix:///run/v.sock?db=3")
    assert done.stdout.split()[1] == "redis+socket:///run/v.sock?virtual_host=3"
