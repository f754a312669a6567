"""`make setup` on machines that lack something: one line with what is missing, and what to do."""

from __future__ import annotations

import functools
import http.server
import re
import runpy
import shutil
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from shelfsync.settings_file import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

INPUTS = (
    "requirements.txt",
    "requirements-dev.txt",
    "requirements-build.txt",
    "requirements-uv.txt",
    "pyproject.toml",
    "sandbox/pyproject.toml",
    "scripts/setup.sh",
)
NEEDED = ("sh", "cat", "cksum", "sed", "dirname", "mkdir", "grep", "tail", "rm", "cut")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What setup.sh looks at, without an environment, and a folder of programs without any Python."""
    project = tmp_path / "project"
    shutil.copytree(PROJECT / "scripts", project / "scripts")
    (project / "sandbox").mkdir()
    for name in INPUTS[:-1]:
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


def test_without_a_python_it_names_the_required_version(checkout: Path) -> None:
    done = setup(checkout)
    assert done.returncode == 1
    assert (
        done.stderr
        == "setup: no Python 3.11 to 3.14 found. Install one, or name it: PYTHON=/path/to/python3.12 make setup\n"
    )


def test_a_named_python_that_does_not_exist_is_an_error(checkout: Path) -> None:
    done = setup(checkout, PYTHON="/no/such/python")
    assert done.returncode == 1
    assert done.stderr.startswith("setup: PYTHON=/no/such/python is no Python 3.11 to 3.14")


def test_an_old_python_is_none(checkout: Path) -> None:
    old = checkout.parent / "bin" / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert "no Python 3.11" in setup(checkout).stderr


def test_nothing_is_done_when_nothing_has_changed(checkout: Path) -> None:
    text = b"".join((checkout / name).read_bytes() for name in INPUTS)
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


def test_pip_is_fetched_in_the_version_that_is_pinned_whatever_else_the_index_lists() -> None:
    script = runpy.run_path(str(PROJECT / "scripts" / "fetch_pip.py"))
    version, digests = script["pinned"]((PROJECT / "requirements-build.txt").read_text("utf-8"))
    assert digests
    page = "".join(
        f'<a href="../../files/pip-{one}-py3-none-any.whl#sha256={"0" * 64}" data-requires-python="&gt;=3.9">x</a><br/>\n'
        for one in ("9.0.1", f"{version}.1", version, "99.0b1", "99.1")
    )
    link = script["wheel_of"](version, page, "http://127.0.0.1/simple/pip/")
    assert link == f"http://127.0.0.1/files/pip-{version}-py3-none-any.whl"
    with pytest.raises(SystemExit, match="lists no wheel"):
        script["wheel_of"]("1.2.3", page, "http://127.0.0.1/simple/pip/")


def test_a_wheel_of_pip_that_is_not_the_pinned_one_is_rejected(tmp_path: Path) -> None:
    """An index that answers with another file under the right name."""
    script = PROJECT / "scripts" / "fetch_pip.py"
    version, _ = runpy.run_path(str(script))["pinned"]((PROJECT / "requirements-build.txt").read_text("utf-8"))
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "index.html").write_text(f'<a href="/pip/pip-{version}-py3-none-any.whl">x</a>')
    (tmp_path / "pip" / f"pip-{version}-py3-none-any.whl").write_bytes(b"something else")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = subprocess.run(
            [sys.executable, str(script), str(tmp_path / "pip.whl")],
            env={"PIP_INDEX_URL": f"http://127.0.0.1:{server.server_address[1]}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        server.shutdown()
    assert (done.returncode, (tmp_path / "pip.whl").exists()) == (1, False)
    assert "is not the one that requirements-build.txt pins" in done.stderr


PINNED = (
    "requirements",
    "requirements-celery",
    "requirements-kubernetes",
    "requirements-fab",
    "requirements-dev",
    "requirements-bench",
    "requirements-uv",
    "requirements-build",
    "requirements-docs",
    "sandbox/requirements",
)


@pytest.mark.parametrize("name", PINNED)
def test_everything_is_pinned_with_its_hashes_and_no_index_is_named(name: str) -> None:
    text = (PROJECT / f"{name}.txt").read_text("utf-8")
    lines = [line for line in text.replace(" \\\n", " ").splitlines() if not line.strip().startswith("#")]
    assert lines
    assert [line for line in lines if "==" not in line or "--hash=sha256:" not in line] == []
    assert "://" not in text
    assert "index-url" not in text


def test_what_is_installed_is_checked_against_the_hashes() -> None:
    """In each place that installs something."""
    dockerfiles = [PROJECT / "Dockerfile", PROJECT / "sandbox/Dockerfile"]
    places = [*dockerfiles, *(PROJECT / "scripts").glob("*.sh")]
    installing = [
        line.strip()
        for place in places
        for line in place.read_text("utf-8").splitlines()
        if re.search(r"pip (install|sync)", line) and not line.lstrip().startswith("#")
    ]
    assert len(installing) >= 7
    for line in installing:
        assert "--require-hashes" in line or "$pinned_uv" in line or "--no-deps" in line, line
    assert '--require-hashes --requirement requirements-uv.txt"' in (PROJECT / "scripts/setup.sh").read_text("utf-8")


def test_base_images_are_named_exactly() -> None:
    images = [
        image
        for name in ("Dockerfile", "sandbox/Dockerfile")
        for image in re.findall(r"^FROM (\S+)", (PROJECT / name).read_text("utf-8"), re.MULTILINE)
    ]
    images += re.findall(
        r"^ +image: (?!(?:shelfsync|partner-sandbox)$)(\S+)",
        (PROJECT / "docker-compose.yaml").read_text("utf-8"),
        re.MULTILINE,
    )
    assert len(images) == 5
    for image in images:
        assert re.fullmatch(r"[a-z]+:\d+(\.\d+)+(-[a-z]+)+(@sha256:[0-9a-f]{64})?", image), image


def test_every_target_is_described_and_makes_the_environment_it_needs() -> None:
    text = (PROJECT / "Makefile").read_text("utf-8")
    targets = dict(re.findall(r"^([a-z]+):(.*)$", text, re.MULTILINE))
    assert {"help", "setup", "lock", "test", "check", "demo", "up", "down"} <= set(targets)
    for name, rest in targets.items():
        assert "##" in rest, name
        assert name in {"help", "setup"} or " setup " in rest.split("##")[0] + " ", name
    shown = subprocess.run(["make", "-C", str(PROJECT)], capture_output=True, text=True, check=True).stdout
    assert all(f"make {name}" in shown for name in targets)
