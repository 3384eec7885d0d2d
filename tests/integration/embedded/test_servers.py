"""PostgreSQL and Valkey by themselves: creation, persistence, healing, roles."""

import os
import signal
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest
import redis

from portal.embedded import identity
from portal.embedded.errors import AlreadyRunning, EmbeddedError
from portal.embedded.paths import StateFolder, socket_folder
from portal.embedded.postgres import BUILTIN_LOCALES_SINCE
from portal.embedded.process import ProcessId
from portal.embedded.runfile import Running, end_leftovers, hold, live_running
from portal.embedded.servers import DATABASE_URL, OWNER_URL, REDIS_URL, Servers, running_servers
from portal.embedded.supervisor import Supervisor
from portal.embedded.temporary import temporary_state
from tests.integration.embedded.probes import eventually, owner_query, query

Environment = Mapping[str, str]


def test_data_persists_between_runs(state: StateFolder, bare_environment: Environment) -> None:
    with running_servers(state, bare_environment) as environment:
        owner_query(environment, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        redis.Redis.from_url(environment[REDIS_URL]).set("kept", "7")
    with running_servers(state, bare_environment) as environment:
        assert owner_query(environment, "SELECT n FROM kept") == [(7,)]
        assert redis.Redis.from_url(environment[REDIS_URL]).get("kept") == b"7"


def test_an_interrupted_first_start_is_thrown_away(state: StateFolder, bare_environment: Environment) -> None:
    broken = state.root / "pg.init"
    broken.mkdir()
    (broken / "PG_VERSION").write_text("18\n")
    with running_servers(state, bare_environment) as environment:
        assert owner_query(environment, "SELECT 1") == [(1,)]
    assert not broken.exists()


def test_the_application_role_works_with_tables_but_does_not_own_them(
    state: StateFolder, bare_environment: Environment
) -> None:
    with running_servers(state, bare_environment, durable=False) as environment:
        owner_query(environment, "CREATE TABLE things (id int GENERATED ALWAYS AS IDENTITY, n int)")
        query(environment[DATABASE_URL], "INSERT INTO things (n) VALUES (1)")
        assert query(environment[DATABASE_URL], "SELECT n FROM things") == [(1,)]
        for forbidden in ("DROP TABLE things", "CREATE TABLE mine (n int)", "SET ROLE portal_owner"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                query(environment[DATABASE_URL], forbidden)


def test_the_owner_makes_databases_and_the_extension_for_exclusion_constraints(
    state: StateFolder, bare_environment: Environment
) -> None:
    with running_servers(state, bare_environment, durable=False) as environment:
        owner_query(environment, "CREATE EXTENSION btree_gist")
        with psycopg.connect(environment[OWNER_URL], autocommit=True) as connection:
            connection.execute("CREATE DATABASE test_portal")


def test_sockets_are_private_short_lived_and_outside_the_state_folder(
    state: StateFolder, bare_environment: Environment
) -> None:
    with running_servers(state, bare_environment, durable=False) as environment:
        folder = Path(parse_qs(urlsplit(environment[DATABASE_URL]).query)["host"][0])
        assert not folder.is_relative_to(state.root)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [row[0] for row in owner_query(environment, "SHOW listen_addresses")] == [""]
    assert not folder.exists()


def test_sorting_does_not_depend_on_the_machine(state: StateFolder, bare_environment: Environment) -> None:
    with running_servers(state, bare_environment, durable=False) as environment:
        version = int(owner_query(environment, "SHOW server_version_num")[0][0]) // 10_000
        if version >= BUILTIN_LOCALES_SINCE:
            found = owner_query(environment, "SELECT datlocprovider, datlocale FROM pg_database")
            assert set(found) == {("b", "C.UTF-8")}
        assert owner_query(environment, "SHOW timezone") == [("UTC",)]


def test_a_server_that_the_environment_names_is_not_started(state: StateFolder, bare_environment: Environment) -> None:
    named = {DATABASE_URL: "postgresql://me@elsewhere/portal", REDIS_URL: "redis://elsewhere"}
    with socket_folder(bare_environment) as sockets:
        servers = Servers(state, sockets, {**bare_environment, **named})
    assert servers.children() == []
    assert servers.environment[OWNER_URL] == named[DATABASE_URL]
    assert "PORTAL_EMBEDDED" not in servers.environment


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_a_killed_server_is_started_again_with_its_data(
    name: str, state: StateFolder, bare_environment: Environment
) -> None:
    said: list[str] = []
    with hold(state), socket_folder(bare_environment) as sockets:
        servers = Servers(state, sockets, bare_environment)
        supervisor = Supervisor(state, sockets, said.append)
        try:
            servers.create()
            children = {child.spec.name: child for child in servers.children()}
            for child in children.values():
                supervisor.bring_up(child, within=30)
            owner_query(servers.environment, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
            killed = children[name].pid
            assert killed
            os.kill(killed, signal.SIGKILL)

            def healed() -> bool:
                supervisor.heal()
                return children[name].pid not in (None, killed) and children[name].is_ready()

            assert eventually(healed, within=15)
            assert owner_query(servers.environment, "SELECT n FROM kept") == [(7,)]
            running = live_running(state)
            assert running and running.children[name].pid == children[name].pid
        finally:
            supervisor.stop()
    assert any("SIGKILL" in line for line in said)


def test_a_state_folder_has_one_holder(state: StateFolder) -> None:
    refusal = pytest.raises(AlreadyRunning, match=rf"process {os.getpid()}\).*PORTAL_STATE_DIR")
    with hold(state), refusal, hold(state):
        pass


def test_a_stale_lock_file_is_taken_over(state: StateFolder) -> None:
    state.lock.write_text("999999999")
    with hold(state):
        assert state.lock.read_text() == str(os.getpid())


def test_leftovers_are_known_by_start_time_and_not_by_number_alone(state: StateFolder, tmp_path: Path) -> None:
    this = ProcessId.this()
    stranger = ProcessId(this.pid, "some other start")
    Running(supervisor=stranger, socket_folder=str(tmp_path), children={"web": stranger}).write(state)
    assert live_running(state) is None
    end_leftovers(state)
    assert this.is_alive()
    assert tmp_path.exists(), "a folder that is not a socket folder is left alone"
    assert not state.run_file.exists()


@pytest.fixture
def state_for_everybody() -> Iterator[StateFolder]:
    """A state folder that another user can reach, which pytest's own temporary folders are not."""
    with temporary_state() as state:
        state.root.chmod(0o711)
        yield state


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another face for PostgreSQL")
def test_root_falls_back_to_nobody_where_user_namespaces_are_forbidden(
    state_for_everybody: StateFolder, bare_environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = state_for_everybody
    with running_servers(state, bare_environment) as environment:
        owner_query(environment, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
    monkeypatch.setattr(identity, "USER_NAMESPACE", ("false",))
    try:
        with running_servers(state, bare_environment) as environment:
            assert owner_query(environment, "SELECT n FROM kept") == [(7,)]
            assert (state.postgres / "postmaster.pid").stat().st_uid == identity.NOBODY
    except EmbeddedError as refusal:
        # A checkout that nobody cannot reach (below /root, say) is refused with the fix.
        assert "Run ./dev as an ordinary user" in str(refusal)
        pytest.skip("nobody cannot reach the binaries of this checkout")
    monkeypatch.undo()
    with running_servers(state, bare_environment) as environment:
        assert owner_query(environment, "SELECT n FROM kept") == [(7,)]
