"""The pure parts of the embedded mode: paths, back-off, binaries, figures."""

import os
from pathlib import Path

import pytest

from portal.embedded.errors import EmbeddedError
from portal.embedded.paths import SOCKET_PATH_LIMIT, StateFolder, socket_folder, state_folder
from portal.embedded.postgres import find_binaries
from portal.embedded.supervisor import LONGEST_DELAY_SECONDS, restart_delay
from portal.embedded.valkey import find_server


def test_the_state_folder_is_chosen_then_xdg_then_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/lin")
    assert state_folder({"PORTAL_STATE_DIR": "/srv/a", "XDG_STATE_HOME": "/x"}).root == Path("/srv/a")
    assert state_folder({"XDG_STATE_HOME": "/x"}).root == Path("/x/armillary")
    assert state_folder({}).root == Path("/home/lin/.local/state/armillary")


def test_the_secret_key_is_made_once_and_private(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    key = state.secret_key()
    assert len(key) >= 64
    assert state.secret_key() == key
    assert (tmp_path / "secret-key").stat().st_mode & 0o077 == 0


def test_a_runtime_folder_too_deep_for_sockets_is_passed_over(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * SOCKET_PATH_LIMIT)
    deep.mkdir()
    with socket_folder({"XDG_RUNTIME_DIR": str(deep)}) as folder:
        assert not folder.is_relative_to(deep)
        assert len(os.fsencode(folder / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT
    assert not folder.exists()


def test_restarts_begin_at_once_and_slow_down_to_a_bound() -> None:
    delays = [restart_delay(failures) for failures in range(1, 12)]
    assert delays[0] == 0
    assert delays == sorted(delays)
    assert delays[-1] == LONGEST_DELAY_SECONDS


def test_chosen_binaries_win_and_wrong_ones_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedError, match="PORTAL_PG_BIN"):
        find_binaries({"PORTAL_PG_BIN": str(tmp_path)})
    for name in ("initdb", "postgres", "valkey-server"):
        (tmp_path / name).touch(mode=0o755)
    assert find_binaries({"PORTAL_PG_BIN": str(tmp_path)}) == tmp_path
    assert find_server({"PORTAL_VALKEY_BIN": str(tmp_path / "valkey-server")}) == str(tmp_path / "valkey-server")
    with pytest.raises(EmbeddedError, match="PORTAL_VALKEY_BIN"):
        find_server({"PORTAL_VALKEY_BIN": str(tmp_path / "nothing")})


def test_the_installed_wheels_serve_without_any_setting() -> None:
    assert (find_binaries({}) / "initdb").is_file()
    assert Path(find_server({})).name.endswith("-server")
