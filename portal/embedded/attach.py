"""Any other management command: on the servers that run, on servers of its own, or on none."""

import os
from contextlib import AbstractContextManager, nullcontext

from portal.embedded.errors import EmbeddedError
from portal.embedded.paths import state_folder
from portal.embedded.runfile import live_running
from portal.embedded.servers import DATABASE_URL, REDIS_URL, running_servers
from portal.embedded.terminal import warn

NEEDS_NO_SERVER = frozenset(
    {
        "check",
        "check_translations",
        "collectstatic",
        "compilemessages",
        "diffsettings",
        "findstatic",
        "help",
        "makemessages",
        "makemigrations",
        "normalize-node",
        "replay-cycle",
        "spectacular",
        "version",
    }
)
AS_OWNER = frozenset({"flush", "migrate", "sqlflush"})


def main(argv: list[str]) -> int:
    """Run the Django command of argv; 1 with a sentence when its servers cannot start."""
    command = argv[1] if len(argv) > 1 else "help"
    try:
        with _servers(command) as environment:
            os.environ.update(environment)
            if command in AS_OWNER:
                os.environ["PORTAL_AS_OWNER"] = "true"
            # Its settings read the variables set just now.
            from django.core.management import execute_from_command_line  # noqa: PLC0415

            execute_from_command_line(argv)
    except EmbeddedError as error:
        warn(str(error))
        return 1
    return 0


def _servers(command: str) -> AbstractContextManager[dict[str, str]]:
    """The environment that leads to the servers the command shall use."""
    if (
        command in NEEDS_NO_SERVER
        or command.startswith("-")
        or (DATABASE_URL in os.environ and REDIS_URL in os.environ)
    ):
        return nullcontext({})
    state = state_folder(os.environ)
    running = live_running(state)
    if running and running.is_ready:
        return nullcontext(running.environment)
    if running:
        raise EmbeddedError(f"Servers are just starting on {state.root}; try again in a moment.")
    if not state.is_prepared:
        raise EmbeddedError(
            f"There is no portal in {state.root} yet: run ./dev up first, or name its folder in PORTAL_STATE_DIR."
        )
    warn(f"no portal runs on {state.root}; starting its servers for this command")
    return running_servers(state, os.environ)
