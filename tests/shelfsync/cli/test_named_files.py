"""Each command that writes a file which a person names: whole or not at all, for its owner alone, in place of none but its own kind."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
from pathlib import Path

import duckdb
import pytest
import typer

from commands_here import commands_here
from shelfsync.catalog.steps import plan as plans
from shelfsync.cli import app
from shelfsync.errors import ConfigurationError
from shelfsync.exit_codes import ExitCode
from shelfsync.store.named_file import NamedFile
from shelfsync.warehouse import duckdb_file

OTHER_USER = 65534
WRITES = {
    "plan --out": ("plan", "--out"),
    "duckdb FILE": ("duckdb",),
    "metrics --output": ("metrics", "--output"),
    "state save FILE": ("state", "save"),
    "doctor FILE": ("doctor",),
}
READS = {"apply FILE", "orders fulfil --result", "sniff FILE", "change-files replay FILE", "state load FILE"}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder, without a database: it fails at the file before it needs one."""
    folder = tmp_path / "here"
    folder.mkdir()
    with commands_here({"SHELFSYNC_HOME": str(tmp_path / "home")}, folder, monkeypatch, capsys) as call:
        yield call


def _foreign(path):
    path.write_bytes(b"sku,price\n1,2\n")


def _of_another_program(path):
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE kept AS SELECT 1 AS a")


def _socket(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.close()


BESIDE = {
    "a file of something else": (_foreign, "is not replaced"),
    "JSON of something else": (lambda path: path.write_text("{}"), "is not replaced"),
    "a database of another program": (_of_another_program, "is not replaced"),
    "a folder": (lambda path: path.mkdir(), "is a folder. Name a file in it"),
    "a pipe": (os.mkfifo, "is no regular file"),
    "a socket": (_socket, "is no regular file"),
    "a link to a device": (lambda path: path.symlink_to("/dev/null"), "is no regular file"),
    "a link to something else": (
        lambda path: (_foreign(path.parent / "kept"), path.symlink_to("kept")),
        "not replaced",
    ),
    "a link into no folder": (lambda path: path.symlink_to("none/x"), "there is no folder"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "is no regular file"),
}
ELSEWHERE = {
    "none/x": "there is no folder",
    "kept/x": "cannot be written: Not a directory",
    "/proc/x": "cannot be written",
    "/dev/null": "is no regular file",
    "x" * 300: "cannot be written: File name too long",
    ".": "is a folder",
    "..": "is a folder",
    "/": "is a folder",
}


@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(("make", "says"), BESIDE.values(), ids=BESIDE)
def test_what_is_there_already_is_left_as_it_is(run, words, make, says):
    path = Path("x")
    make(path)
    before = _state(Path())
    for more in ((), ("--replace",)) if not says.endswith("replaced") else ((),):
        code, out, error = run(*words, str(path), *more)
        assert (code, out) == (ExitCode.CONFIGURATION, ""), error
        assert error.startswith(f"shelfsync: {words[-1] if words[-1].startswith('-') else 'FILE'}: ")
        assert says in error
        assert len(error.splitlines()) == 1
    assert _state(Path()) == before


@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize(("path", "says"), ELSEWHERE.items(), ids=[name[:9] for name in ELSEWHERE])
def test_a_place_that_takes_no_file_is_one_line(run, words, path, says):
    _foreign(Path("kept"))
    code, out, error = run(*words, path)
    assert (code, out) == (ExitCode.CONFIGURATION, ""), error
    assert says in error
    assert len(error.splitlines()) == 1
    assert [left.name for left in Path().iterdir()] == ["kept"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may act for another user")
@pytest.mark.parametrize("words", WRITES.values(), ids=WRITES)
def test_a_folder_of_another_user_is_one_line(run, words, reachable_folder):
    theirs = reachable_folder / "theirs"
    theirs.mkdir(mode=0o755, exist_ok=True)
    os.seteuid(OTHER_USER)
    try:
        code, _, error = run(*words, str(theirs / "x"))
    finally:
        os.seteuid(0)
    assert code == ExitCode.CONFIGURATION, error
    assert "cannot be written: Permission denied" in error
    assert not any(theirs.iterdir())


def test_every_option_that_names_a_file_is_in_this_table():
    found = set()

    def look(command, path):
        for name, inner in getattr(command, "commands", {}).items():
            look(inner, (*path, name))
        for option in command.params:
            if option.metavar == "FILE" and not hasattr(command, "commands"):
                found.add(" ".join((*path, option.opts[0] if option.opts[0].startswith("-") else "FILE")))

    look(typer.main.get_command(app), ())
    assert found == WRITES.keys() | READS


def _state(folder):
    return {
        path.name: (path.lstat().st_mode, path.read_bytes() if path.is_file() else None) for path in folder.iterdir()
    }


def _any(path):
    return NamedFile(path, "FILE", "a note", lambda found: found.read_bytes().startswith(b"note"))


def test_a_new_file_is_for_its_owner_alone_and_an_older_one_keeps_its_rights(tmp_path):
    path = tmp_path / "x"
    (tmp_path / "latest").symlink_to("x")
    before = os.umask(0)
    try:
        for mode, place in ((0o600, path), (0o640, tmp_path / "latest")):
            with _any(place).writing() as incomplete:
                incomplete.write_bytes(b"note")
                assert stat.S_IMODE(incomplete.parent.stat().st_mode) == 0o700
            assert stat.S_IMODE(path.stat().st_mode) == mode
            path.chmod(0o640)
    finally:
        os.umask(before)
    assert (tmp_path / "latest").is_symlink()


def test_a_write_that_fails_leaves_the_older_file_whole(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"note 1")

    def break_off():
        with _any(path).writing() as incomplete:
            incomplete.write_bytes(b"no")
            raise KeyError

    with pytest.raises(KeyError):
        break_off()
    assert _state(tmp_path).keys() == {"x"}
    assert path.read_bytes() == b"note 1"


def test_an_error_about_something_else_is_not_blamed_on_the_file(tmp_path):
    with pytest.raises(FileNotFoundError), _any(tmp_path / "x").writing():
        Path("/none/of/the/lake").read_bytes()


def test_something_else_is_replaced_at_the_persons_word(tmp_path):
    path = tmp_path / "x"
    _foreign(path)
    plans.write({"format": 0, "checksum": "x"}, path, replace=True)
    assert json.loads(path.read_text())["checksum"] == "x"


@pytest.fixture
def full(tmp_path):
    """A disk of 1 MiB with an older file of each command, and no room left."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("this process may not mount a disk")
    try:
        plans.write({"format": 0, "checksum": "older"}, folder / "plan.json")
        (folder / "rest").write_bytes(bytes(900_000))
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_one_line_and_keeps_the_older_file(full, world):
    before = _state(full)
    context = world.app.context
    for write in (
        lambda: plans.write({"format": 0, "checksum": "x" * 300_000}, full / "plan.json"),
        lambda: duckdb_file.write(context.engine, context.lake, full / "today.duckdb"),
    ):
        with pytest.raises(ConfigurationError, match=r"cannot be written: .*Free space there") as error:
            write()
        assert len(str(error.value).splitlines()) == 1
        assert _state(full) == before
