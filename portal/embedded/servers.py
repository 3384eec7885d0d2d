"""Which servers a state folder needs, and the environment that leads to them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from portal.embedded.paths import StateFolder, socket_folder
from portal.embedded.postgres import APPLICATION, OWNER, Postgres
from portal.embedded.process import Child, Spec, rotate
from portal.embedded.runfile import end_leftovers, hold
from portal.embedded.supervisor import Supervisor
from portal.embedded.valkey import Valkey

START_SECONDS = 30.0
DATABASE_URL = "PORTAL_DATABASE_URL"
OWNER_URL = "PORTAL_DATABASE_OWNER_URL"
REDIS_URL = "PORTAL_REDIS_URL"


class Servers:
    """PostgreSQL and Valkey of one state folder; one that the environment names is not ours to run.

    `environment` holds the variables by which the portal finds them, and the installation's signing key.
    """

    def __init__(self, state: StateFolder, sockets: Path, environ: Mapping[str, str], *, durable: bool = True) -> None:
        self.state = state
        self.postgres: Postgres | None = None
        self.valkey: Valkey | None = None
        self.environment = {"PORTAL_STATE_DIR": str(state.root)}
        if environ.get(DATABASE_URL):
            self.environment[DATABASE_URL] = environ[DATABASE_URL]
            self.environment[OWNER_URL] = environ.get(OWNER_URL) or environ[DATABASE_URL]
        else:
            self.postgres = Postgres(state.postgres, sockets, environ, durable=durable)
            self.environment[DATABASE_URL] = self.postgres.url(APPLICATION)
            self.environment[OWNER_URL] = self.postgres.url(OWNER)
        if environ.get(REDIS_URL):
            self.environment[REDIS_URL] = environ[REDIS_URL]
        else:
            self.valkey = Valkey(state.valkey, sockets, environ, durable=durable)
            self.environment[REDIS_URL] = self.valkey.url()
        if "PORTAL_SECRET_KEY" not in environ and "PORTAL_SECRET_KEY_FILE" not in environ:
            self.environment["PORTAL_SECRET_KEY"] = state.secret_key()
        if self.postgres or self.valkey:
            self.environment["PORTAL_EMBEDDED"] = "1"

    def create(self) -> bool:
        """Make the database cluster unless it is there or not ours; True when it was made now."""
        return self.postgres is not None and self.postgres.create()

    def children(self) -> list[Child]:
        """The processes, in the order to start them."""
        return [new_child(self.state, server.spec()) for server in (self.postgres, self.valkey) if server]


def new_child(state: StateFolder, spec: Spec) -> Child:
    """The child with its log in the state folder."""
    log = state.logs / f"{spec.name}.log"
    rotate(log)
    return Child(spec, log)


@contextmanager
def running_servers(
    state: StateFolder, environ: Mapping[str, str], *, durable: bool = True
) -> Iterator[dict[str, str]]:
    """The environment of servers that run until the block ends. Raises EmbeddedError."""
    state.create()
    with hold(state), socket_folder(environ) as sockets:
        end_leftovers(state)
        supervisor = Supervisor(state, sockets)
        try:
            servers = Servers(state, sockets, environ, durable=durable)
            servers.create()
            for child in servers.children():
                supervisor.bring_up(child, within=START_SECONDS)
            supervisor.announce(servers.environment)
            yield servers.environment
        finally:
            supervisor.stop()
