"""`up` and `demo` in a shell that holds a real platform's settings: each as a process of its own, and nothing starts without the platform's name."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from installation.installed import clean_environment
from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.local import destination, up
from shelfsync.local.file_lock import FileLock
from shelfsync.local.guide import Running, tries
from shelfsync.local.state_folder import Place
from shelfsync.settings import Settings

PROJECT = Path(__file__).parents[3]
COMMAND = [str(PROJECT / ".venv/bin/shelfsync"), "up"]
HOST = "platform.example.com"
ADDRESS = f"https://{HOST}"
REAL = {
    "SHELFSYNC_PLATFORM__BASE_URL": ADDRESS,
    "SHELFSYNC_PLATFORM__CHAIN": "real-chain",
    "SHELFSYNC_ERP__URL": "postgresql://erp.example.com/erp",
}


def refused(tmp_path, environment: dict[str, str], *words: str) -> str:
    """What the command writes on standard error. It must end with 3 and start nothing."""
    home = tmp_path / "home"
    done = subprocess.run(
        [*COMMAND, *words],
        env=clean_environment() | {"SHELFSYNC_HOME": str(home)} | environment,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert not (home / "run" / "stack.json").exists()
    assert not (home / "postgres").exists()
    return done.stderr


@pytest.mark.slow
def test_without_a_terminal_up_refuses_a_real_platform_and_prints_both_next_commands(tmp_path) -> None:
    (line,) = refused(tmp_path, REAL).splitlines()
    assert f"names {HOST} (chain real-chain), and `up` switches on every DAG, which sends to it" in line
    assert f"shelfsync up --platform {HOST}" in line
    assert "shelfsync up --sandbox" in line


@pytest.mark.slow
def test_a_platform_of_the_settings_file_needs_its_name_too_and_another_name_does_not_send(tmp_path) -> None:
    file = tmp_path / "home" / "shelfsync.toml"
    file.parent.mkdir()
    file.write_text(f"[platform]\nbase_url = '{ADDRESS}'\n")
    assert f"names {HOST}, not other.example" in refused(tmp_path, {}, "--platform", "other.example")


@pytest.mark.slow
def test_the_background_process_that_switches_dags_on_refuses_as_well(tmp_path) -> None:
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, "-m", "shelfsync.local.up"],
        env=clean_environment() | {"SHELFSYNC_HOME": str(home), "PYTHONPATH": str(PROJECT / "include")} | REAL,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, f"--platform {HOST}" in done.stdout) == (3, True), done.stdout + done.stderr
    assert not (home / "run").exists()


@pytest.mark.slow
def test_at_a_terminal_a_yes_is_not_the_hosts_name(tmp_path) -> None:
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        COMMAND,
        env=clean_environment() | {"SHELFSYNC_HOME": str(tmp_path / "home")} | REAL,
        cwd=tmp_path,
        stdin=terminal,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
    )
    os.close(terminal)
    os.write(controller, b"yes\n")
    assert process.wait(60) == 3
    shown = b""
    while True:
        try:
            shown += os.read(controller, 65536)
        except OSError:  # the other end is closed
            break
    os.close(controller)
    assert f"every DAG is switched on, and sends to {HOST}, chain real-chain" in shown.decode()
    assert not (tmp_path / "home").exists()


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """The settings of a shell that has these variables."""
    for name in [name for name in os.environ if name.startswith(("AIRFLOW", "SHELFSYNC"))]:
        monkeypatch.delenv(name)

    def export(**variables: str) -> Settings:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return Settings(home=tmp_path)

    return export


@pytest.mark.parametrize("named", ["", "platform", f"{HOST}.evil.example", f"{HOST}:8443", f"user@{HOST}", "yes"])
def test_another_name_is_refused(shell, named: str) -> None:
    with pytest.raises(ConfigurationError, match=f"--platform {HOST}"):
        up.stack_options(shell(**REAL), platform=named)


@pytest.mark.parametrize("named", [HOST, f" {HOST.upper()} ", ADDRESS, f"{ADDRESS}/"])
def test_with_its_name_the_stack_sends_to_it_and_says_so(shell, named: str) -> None:
    wanted = up.stack_options(shell(**REAL), platform=named)
    assert (wanted.sandbox, wanted.sends_to) == (False, f"{HOST}, chain real-chain")


def test_the_sandbox_is_used_whatever_is_configured_if_it_is_asked_for(shell) -> None:
    elsewhere = {
        "SHELFSYNC_DATABASE_URL": "postgresql://ledger.example.com/real",
        "SHELFSYNC_LAKE_URL": "s3://real",
        "SHELFSYNC_ORDERS__HAND_OVER_URL": "https://stores.example.com",
    }
    wanted = up.stack_options(shell(**REAL, **elsewhere), sandbox=True)
    assert (wanted.sandbox, wanted.sends_to, wanted.database_url) == (True, destination.SANDBOX, None)
    assert set(wanted.unused) == {*REAL, *elsewhere}
    assert not wanted.environment.keys() & wanted.unused


def test_a_name_without_a_platform_is_an_error(shell) -> None:
    with pytest.raises(ConfigurationError, match="no platform is configured"):
        up.stack_options(shell(), platform=HOST)


def test_a_stack_that_sends_elsewhere_is_not_taken_for_the_one_that_is_asked_for(shell, tmp_path) -> None:
    place = Place(tmp_path)
    place.make()
    running = Running("http://a", "http://r", "http://s", sends_to=destination.SANDBOX)
    (place.run / up.READY).write_text(json.dumps(asdict(running)))
    (place.run / "stack.json").write_text(json.dumps({"what": up.WHAT, "pid": os.getpid()}))
    lock = FileLock(place.run / "stack.lock")
    assert lock.take()
    try:
        with pytest.raises(ShelfsyncError, match=rf"sends to {destination.SANDBOX}. Stop it first: make down"):
            up.up(shell(**REAL), platform=HOST, echo=print)
    finally:
        lock.release()


def test_no_password_of_the_address_is_shown(shell) -> None:
    settings = shell(SHELFSYNC_PLATFORM__BASE_URL=f"https://user:canary-destination@{HOST}:8443/path")
    assert destination.host(settings) == f"{HOST}:8443"


def test_the_commands_that_the_sample_prints_leave_out_the_shells_platform(shell, tmp_path) -> None:
    shell(**REAL)
    place, running = Place(tmp_path), Running("http://a", "http://r", "http://s", sends_to=destination.SANDBOX)
    assert all(f"-u {name} " in how for _, how in tries(place, running) for name in REAL)
