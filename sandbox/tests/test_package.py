"""The sandbox as a package of its own, in an empty environment: its wheel, its size, and its README word by word."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SANDBOX = Path(__file__).parents[1]
PROJECT = SANDBOX.parent
MIB = 1024 * 1024


def ran(*command: str | Path, cwd: Path, timeout_s: float = 600) -> str:
    """What a command prints, in the shell of a person who has a path, a home and a package index."""
    kept = ("HOME", "PATH", "PIP_", "SSL_CERT_FILE", "LANG")
    environment = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=timeout_s
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    constraint = PROJECT / "requirements-build.txt"
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--build-constraint", constraint)
    ran(*pip, "--wheel-dir", folder, SANDBOX, cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


def walk(text: str) -> str:
    """The blocks of the README's walk as one script."""
    (section,) = re.findall(r"^## From nothing.*?(?=^## )", text, re.MULTILINE | re.DOTALL)
    return "\n".join(re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is gone afterwards, for what a newcomer keeps in files: a token, an order."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def free_ports() -> list[int]:
    """Two ports without a listener: the README's may be taken on the machine of a test."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return [one.getsockname()[1], other.getsockname()[1]]


@pytest.mark.slow
@pytest.mark.proof
def test_the_readme_leads_word_by_word_from_nothing_to_a_fulfilled_order(folder, wheel):
    shutil.copy2(wheel, folder)
    service, receiver = free_ports()
    script = walk((SANDBOX / "README.md").read_text("utf-8"))
    started = f"partner-sandbox --port {service} --demo"
    script = script.replace("partner-sandbox --demo", started).replace(":8470", f":{service}")
    script = script.replace("9000", str(receiver))
    script = (
        f'curl() {{ command curl --fail-with-body --show-error "$@"; }}\ntrap "kill 0" EXIT\n{script}\ntrap - EXIT\n'
    )
    printed = ran("setsid", "--wait", "bash", "-euc", script, cwd=folder)
    assert json.loads((folder / "fulfilled.json").read_text("utf-8"))["status"] == "picked_up"
    assert re.search(r'"MILK-1L","success"', printed)
    assert re.search(r'"NO-SUCH-SKU","failed"', printed)
    events = (folder / "events.log").read_text("utf-8").splitlines()
    assert [line.split(" any text of yours ")[0] for line in events] == ["/orders"] * len(events)
    assert {json.loads(line.split(" any text of yours ")[1])["status"] for line in events} >= {"RECEIVED", "DISPATCHED"}
    products = {row["sku"]: row for row in json.loads((folder / "products.json").read_text("utf-8"))["products"]}
    assert products["JUICE-1L"]["app"]["promotion"]["price"] == 1.99
    assert products["MILK-1L"]["price"] == 1.35
    assert "demo-secret" in (folder / "sandbox.log").read_text("utf-8")
    site = next((folder / "sandbox" / "lib").glob("python3*/site-packages"))
    assert not (site / "airflow").exists()
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) < 100 * MIB


def imported() -> set[str]:
    """The first word of every module that the package imports."""
    found = set()
    for file in (SANDBOX / "partner_sandbox").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found.add(str(node.module).split(".", maxsplit=1)[0])
            elif isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
    return found


def test_the_package_asks_for_what_it_imports_and_no_more():
    plugin = {"pytest"}  # only pytest itself imports the plugin
    outside = imported() - set(sys.stdlib_module_names) - {"partner_sandbox"} - plugin
    brought = {"starlette": "fastapi", "pydantic_core": "pydantic", "markupsafe": "jinja2", "yaml": "pyyaml"}
    needed = {brought.get(name, name).replace("_", "-") for name in outside}
    text = tomllib.loads((SANDBOX / "pyproject.toml").read_text("utf-8"))
    asked = {re.split(r"[<>=]", line)[0] for line in text["project"]["dependencies"]}
    assert asked - needed == {"httptools"}  # uvicorn's protocol, which a fault cuts
    assert needed <= asked


def test_the_package_takes_the_libraries_that_the_tests_ran_with():
    text = tomllib.loads((SANDBOX / "pyproject.toml").read_text("utf-8"))
    ran_with = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+)", (PROJECT / "requirements.txt").read_text("utf-8"), re.MULTILINE)
    )
    for line in text["project"]["dependencies"]:
        name, least, below = re.fullmatch(r"([a-z0-9-]+)>=([\d.]+)(?:,<([\d.]+))?", line).groups()
        version = [int(part) for part in ran_with[name].split(".")]
        assert [int(part) for part in least.split(".")] <= version
        assert below is None or version < [int(part) for part in below.split(".")]


@pytest.mark.slow
@pytest.mark.proof
def test_the_pinned_libraries_of_the_image_are_what_the_wheel_asks_for(folder, wheel):
    ran(sys.executable, "-m", "venv", folder / "image", cwd=folder)
    pip = (folder / "image/bin/pip", "install", "--quiet")
    ran(*pip, "--require-hashes", "--requirement", SANDBOX / "requirements.txt", cwd=folder)
    ran(*pip, "--no-deps", wheel, cwd=folder)
    assert "No broken requirements" in ran(folder / "image/bin/pip", "check", cwd=folder)
    (command,) = re.findall(r"^CMD (.*)$", (SANDBOX / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    program, *arguments = json.loads(command)
    port = str(free_ports()[0])
    with subprocess.Popen(
        [folder / "image/bin" / program, *arguments, "--port", port], stdout=subprocess.PIPE
    ) as process:
        assert b"partner-sandbox on http://0.0.0.0" in process.stdout.readline()
        process.terminate()
        assert process.wait(20) == 0
