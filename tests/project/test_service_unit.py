"""deploy/systemd/shelfsync.service is a unit that systemd takes, and starts a program that is there."""

from __future__ import annotations

import configparser
import importlib.util
import shutil
import subprocess

import pytest

from shelfsync.local.up import GONE_TIMEOUT_S, STOP_TIMEOUT_S
from shelfsync.settings_file import PROJECT

UNIT = PROJECT / "deploy/systemd/shelfsync.service"


@pytest.fixture(scope="module")
def service() -> configparser.SectionProxy:
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT.read_text("utf-8"))
    return unit["Service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize(("more", "code"), [("", 0), ("\n[Service]\nRestart=perhaps\nExecStart=/no/such/program\n", 1)])
def test_systemd_takes_the_unit_and_the_check_can_fail(tmp_path, more: str, code: int) -> None:
    """The user and the program of the installation are not on this machine; everything else is checked as it is."""
    text = UNIT.read_text("utf-8").replace("/opt/shelfsync/.venv/bin/python", "/bin/true")
    file = tmp_path / UNIT.name
    file.write_text(text.replace("User=shelfsync", "User=root") + more)
    done = subprocess.run(["systemd-analyze", "verify", file], capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(code), done.stderr
    assert bool(done.stderr) == bool(code), "a warning is an error too"


def test_it_starts_a_module_that_is_there_and_stops_no_earlier_than_the_program_itself(service) -> None:
    words = service["ExecStart"].split()
    assert importlib.util.find_spec(words[words.index("-m") + 1]) is not None
    assert words[words.index("-m") + 2] == "--platform", "or it would start the sample"
    assert float(service["TimeoutStopSec"]) > STOP_TIMEOUT_S + GONE_TIMEOUT_S
    assert service["KillMode"] == "mixed"
