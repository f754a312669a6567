"""A state folder that cannot be one: each command ends with 3 and one line that names the setting and the path."""

from __future__ import annotations

import errno
import json
import os

import pytest

from commands_here import commands_here
from shelfsync.exit_codes import ExitCode
from shelfsync.settings.storage_fault import trouble

OTHER_USER = 65534
LINE = "shelfsync: SHELFSYNC_HOME: {} cannot be written: "


@pytest.fixture
def at(tmp_path, monkeypatch, capsys):
    """Runs a command with this state folder: (exit code, standard error)."""

    def call(home, *words, here=tmp_path):
        with commands_here({"SHELFSYNC_HOME": str(home)}, here, monkeypatch, capsys) as run:
            code, _, error = run(*words)
        return code, error

    return call


@pytest.mark.parametrize("inside", ["", "x", "x/y", "run", "proc"])
def test_a_file_in_the_place_of_the_folder_is_one_line(at, tmp_path, inside):
    file = tmp_path / "file"
    file.write_text("")
    home = "/proc/none" if inside == "proc" else file / inside
    code, error = at(home, "check")
    assert code == ExitCode.CONFIGURATION, error
    assert error.startswith("shelfsync: SHELFSYNC_HOME: /"), error
    assert "cannot be written: " in error
    assert len(error.splitlines()) == 1


NO_DATABASE = (
    "shelfsync: SHELFSYNC_HOME: there is no database in {}, and a new one would not know what was sent. If the installation"
    " is new, run `shelfsync check`, which creates it; if not, name its folder in SHELFSYNC_HOME, or its database in"
    " SHELFSYNC_DATABASE_URL. "
)


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["sync"],
        ["sync", "--full"],
        ["plan"],
        ["recover"],
        ["export"],
        ["housekeeping"],
        ["pause", "--all", "--reason", "x"],
        ["state", "save", "x"],
    ],
    ids=" ".join,
)
def test_a_folder_without_a_database_gets_none_by_a_command_that_begins_nothing(at, tmp_path, words):
    """A timer without its settings would send everything anew, past every pause."""
    home = tmp_path / "elsewhere"
    code, error = at(home, *words)
    assert code == ExitCode.CONFIGURATION, error
    assert error.startswith(NO_DATABASE.format(home)), error
    assert not home.exists()


def test_doctor_reports_that_there_is_no_database_and_creates_none(at, tmp_path):
    home = tmp_path / "elsewhere"
    code, error = at(home, "doctor", "x")
    assert code == ExitCode.SUCCESS, error
    found = json.loads((tmp_path / "x").read_text("utf-8"))
    assert "there is no database in" in found["context"]["error"]
    assert not home.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may act for another user")
@pytest.mark.parametrize("made", [True, False], ids=["of another user", "in a folder of another user"])
def test_a_folder_of_another_user_is_one_line(at, reachable_folder, made):
    home = reachable_folder / f"root-{made}" / "home"
    (home if made else home.parent).mkdir(mode=0o755, parents=True, exist_ok=True)
    os.seteuid(OTHER_USER)
    try:
        code, error = at(home, "check", here=reachable_folder)
    finally:
        os.seteuid(0)
    assert code == ExitCode.CONFIGURATION, error
    assert error.startswith("shelfsync: SHELFSYNC_HOME: /"), error
    assert "cannot be written: Permission denied" in error
    assert len(error.splitlines()) == 1


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith("SHELFSYNC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SHELFSYNC_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("place", ["", "logs/up.log", "lake/baseline/x.parquet", "run/stack.lock"])
def test_whatever_the_system_says_of_a_path_inside_names_the_setting(home, number, place):
    found = trouble(OSError(number, os.strerror(number), str(home / place)))
    assert found is not None
    assert found.setting == "SHELFSYNC_HOME"
    assert os.strerror(number) in str(found)


def test_a_disk_that_is_full_needs_no_path(home):
    assert "Free space there" in str(trouble(OSError(errno.ENOSPC, "No space left on device")))


def test_a_lake_of_its_own_names_its_setting(home, monkeypatch):
    monkeypatch.setenv("SHELFSYNC_LAKE_URL", "/srv/lake")
    assert trouble(OSError(errno.EROFS, "Read-only file system", "/srv/lake/raw/a")).setting == "SHELFSYNC_LAKE_URL"


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOENT, "No such file", "/etc/none"),
        OSError(errno.EACCES, "Permission denied", "/etc/shadow"),
        OSError(errno.ECONNREFUSED, "Connection refused"),
        ValueError("x"),
    ],
)
def test_what_is_about_something_else_keeps_its_traceback(home, error):
    assert trouble(error) is None


def test_a_file_that_is_missing_inside_is_a_fault_of_shelfsync(home):
    assert trouble(OSError(errno.ENOENT, "No such file", str(home / "lake/x"))) is None
