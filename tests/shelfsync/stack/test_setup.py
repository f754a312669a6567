"""`make setup` on machines that lack something: one line that says what, and what to do."""

from __future__ import annotations

import hashlib
import re
import runpy
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from shelfsync.stack.place import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = ("sh", "cat", "cksum", "sed", "dirname", "mkdir", "grep", "tail", "rm", "cut")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What setup.sh looks at, without an environment, and a folder of programs without any Python."""
    project = tmp_path / "project"
    shutil.copytree(PROJECT / "scripts", project / "scripts")
    for name in ("requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        shutil.copy(PROJECT / name, project / name)
    (tmp_path / "bin").mkdir()
    for name in NEEDED:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    return project


def setup(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "scripts/setup.sh"],
        cwd=checkout,
        env={"PATH": str(checkout.parent / "bin"), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_without_a_python_it_says_which_it_wants(checkout: Path) -> None:
    done = setup(checkout)
    assert done.returncode == 1
    assert (
        done.stderr
        == "setup: no Python 3.11 to 3.14 found. Install one, or name it: PYTHON=/path/to/python3.12 make setup\n"
    )


def test_a_named_python_that_is_none_is_not_passed_over_in_silence(checkout: Path) -> None:
    done = setup(checkout, PYTHON="/no/such/python")
    assert done.returncode == 1
    assert done.stderr.startswith("setup: PYTHON=/no/such/python is no Python 3.11 to 3.14")


def test_an_old_python_is_none(checkout: Path) -> None:
    old = checkout.parent / "bin" / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert "no Python 3.11" in setup(checkout).stderr


def test_nothing_is_done_when_nothing_has_changed(checkout: Path) -> None:
    inputs = ["requirements.txt", "requirements-dev.txt", "pyproject.toml", "scripts/setup.sh"]
    text = b"".join((checkout / name).read_bytes() for name in inputs)
    stamp = subprocess.run(["cksum"], input=text, capture_output=True, check=True).stdout.decode().strip()
    program = checkout / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    (checkout / ".venv" / "shelfsync-setup").write_text(f"{stamp} {checkout}\n")
    done = setup(checkout)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with (checkout / "requirements.txt").open("a") as file:
        file.write("# changed\n")
    assert setup(checkout).returncode != 0  # it sets out to do something, and there is no Python


def test_pip_is_fetched_as_the_newest_final_wheel_that_the_index_lists() -> None:
    newest = runpy.run_path(str(PROJECT / "scripts" / "fetch_pip.py"))["newest"]
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in ("9.0.1", "26.3", "27.0b1", "26.10")}
    page = "".join(
        f'<a href="../../files/pip-{version}-py3-none-any.whl#sha256={digest}" data-requires-python="&gt;=3.9">x</a><br/>\n'
        for version, digest in digests.items()
    )
    link, digest = newest(page, "http://127.0.0.1/simple/pip/")
    assert link == "http://127.0.0.1/files/pip-26.10-py3-none-any.whl"
    assert digest == digests["26.10"]


def test_every_target_is_described_and_makes_the_environment_it_needs() -> None:
    text = (PROJECT / "Makefile").read_text("utf-8")
    targets = dict(re.findall(r"^([a-z]+):(.*)$", text, re.MULTILINE))
    assert {"help", "setup", "lock", "test", "check", "demo", "up", "down"} <= set(targets)
    for name, rest in targets.items():
        assert "##" in rest, name
        assert name in {"help", "setup"} or " setup " in rest.split("##")[0] + " ", name
    shown = subprocess.run(["make", "-C", str(PROJECT)], capture_output=True, text=True, check=True).stdout
    assert all(f"make {name}" in shown for name in targets)
