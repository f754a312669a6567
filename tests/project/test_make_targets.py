"""Every target of the Makefile, run as `make TARGET` in a separate process: here with its smallest work, or where it is run whole."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from installation.installed import PROJECT, clean_environment
from installation.process import run

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Here:
    """`make TARGET WORDS`, and what it must print. {folder} is a folder of the test; `in_copy`: it writes into the project."""

    words: tuple[str, ...] = ()
    prints: str = ""
    in_copy: bool = False


@dataclass(frozen=True)
class Elsewhere:
    """Too long for this file: the file that runs it, and the line of it that does."""

    file: str
    line: str


BENCH = "--stage diff --rounds 1 --folder {folder}/data --result {folder}/result.json"
TARGETS: dict[str, Here | Elsewhere] = {
    "help": Here(prints="make demo"),
    "setup": Here(),
    "lock": Here(prints="requirements-bench.in -> requirements-bench.txt", in_copy=True),
    "crash": Here(("KILLS=1", "SEED=1"), prints="1 kills, 0 faults"),
    "proof": Here(("PARTS=kills", "KILLS=1"), prints="kills         passed"),
    "fuzz": Here(("SECONDS=1", "ARGS=tests/shelfsync/promotions/test_head.py"), prints="1 passed"),
    "simulate": Here(("SEEDS=1", "START=0"), prints="1 seeds"),
    "crash-sweep": Here(("ARGS=--every 2000", "KINDS=approve"), prints="1 of 1 crash points converge"),
    "mutation": Here(("BUG=a 202 is taken for success",), prints="1 of 1 planted bugs caught"),
    "bench": Here(("SIZE=100k", f"ARGS={BENCH}"), prints="diff"),
    "bench-freshness": Here(
        ("VENDORS=2", "SECONDS=4", "ARGS=--skus 60 --rest-s 0 --drain-s 20"), prints="bound_cycle_s"
    ),
    "bench-scale": Elsewhere("tests/benchmarks/test_scale.py", "scale.measured(2, 50, 2)"),
    "bench-pages": Elsewhere("tests/benchmarks/test_pages.py", "pages.main()"),
    "load": Here(("SECONDS=3", "RATE=100"), prints="0 missing"),
    "audit": Here(prints="audit: "),
    "sbom": Here(prints="sbom: dist/sbom.json"),
    "sandbox-package": Here(prints="partner_sandbox-0.1.0-py3-none-any.whl"),
    "record-release": Here(("FILE={folder}/release.tar.xz",), prints="release.tar.xz: "),
    "release": Elsewhere("tests/project/test_release.py", "release.release(VERSION, committed(root), site=False)"),
    "test-httpx2": Here(("ARGS=-q -k test_sender",), prints="passed"),
    "cost": Here(("ARGS=--skus 2000 --deltas 4",), prints="warehouse"),
    "docs": Here(prints="docs: dist/docs/index.html"),
    ".env": Here(in_copy=True),
    "soak": Elsewhere("tests/soak/test_soak.py", '"make", "soak"'),
    "test": Elsewhere(".ci/run", "step make test 2>&1"),
    "test-slow": Elsewhere(".ci/run", "make test-slow 2>&1"),
    "test-postgres": Elsewhere(".ci/run", "step env PLANS=no make test-postgres"),
    "test-installation": Elsewhere("scripts/test_slow.sh", 'python -m pytest -m "installation and slow and not proof"'),
    "check": Elsewhere(".ci/run", "step make check"),
    "demo": Elsewhere(".ci/run", "make demo >.tools/ci-demo.log"),
    "up": Elsewhere("tests/installation/installed.py", 'self.make("up"'),
    "down": Elsewhere("tests/installation/installed.py", 'self.make("down"'),
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A user's shell: a path, a home, and the address of the package index."""
    kept = ("HOME", "PATH", "PIP_", "UV_", "SSL_CERT_FILE", "LANG")
    return {name: value for name, value in clean_environment().items() if name.startswith(kept)}


def _listed(environment: dict[str, str], folder: Path) -> set[str]:
    """What `make help` shows, what .PHONY names and what else has a recipe, as make itself reads its file."""
    shown = run(["make", "-C", str(PROJECT), "help"], environment, folder)
    assert shown.returncode == 0, shown.stderr
    known = run(["make", "-C", str(PROJECT), "-pRrq", "help"], environment, folder).stdout
    phony = re.search(r"^\.PHONY: (.*)$", known, re.MULTILINE)
    assert phony
    with_recipe = re.findall(r"^([\w.-]+):[^=\n]*\n(?:#[^\n]*\n)*\t", known, re.MULTILINE)
    return set(re.findall(r"^make ([\w-]+)", shown.stdout, re.MULTILINE)) | {*phony[1].split()} | {*with_recipe}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What `make lock` and `make .env` read and write, beside this environment instead of one that would have to be made."""
    (tmp_path / "copy").mkdir()
    for file in [PROJECT / "Makefile", *PROJECT.glob("requirements*")]:
        shutil.copy2(file, tmp_path / "copy")
    shutil.copytree(PROJECT / "scripts", tmp_path / "copy/scripts")
    (tmp_path / "copy/sandbox").mkdir()
    for name in ("pyproject.toml", "requirements.txt"):
        shutil.copy2(PROJECT / "sandbox" / name, tmp_path / "copy/sandbox")
    for name in (".venv", ".tools"):
        (tmp_path / "copy" / name).symlink_to(PROJECT / name)
    return tmp_path / "copy"


def test_an_inner_make_gets_no_argument_of_the_make_around_it(tmp_path: Path) -> None:
    """`make soak MINUTES=6 ARGS=...` starts `make up`, which has an ARGS of its own."""
    show = f"import sys; sys.path.insert(0, {str(PROJECT / 'tests')!r}); from installation.installed import clean_environment as clean"
    show += "; import subprocess; subprocess.run(['make', '-f', 'inner'], env=clean(), check=True)"
    (tmp_path / "inner").write_text('all:\n\t@echo "inner: $(ARGS)."\n')
    (tmp_path / "outer").write_text(f'all:\n\t@{sys.executable} -c "$$SHOW"\n')
    done = run(["make", "-f", "outer", "ARGS=--of-the-soak"], clean_environment() | {"SHOW": show}, tmp_path)
    assert "inner: ." in done.stdout, done.stdout + done.stderr


def test_every_target_of_the_makefile_is_run_and_none_that_it_has_not(
    environment: dict[str, str], tmp_path: Path
) -> None:
    assert _listed(environment, tmp_path) == set(TARGETS)


ELSEWHERE = {name: target for name, target in TARGETS.items() if isinstance(target, Elsewhere)}
HERE = {name: target for name, target in TARGETS.items() if isinstance(target, Here)}

LONG = {
    "lock",
    "crash",
    "proof",
    "fuzz",
    "simulate",
    "crash-sweep",
    "mutation",
    "bench",
    "bench-freshness",
    "load",
    "cost",
    "record-release",
}
"""Of half a minute or more even with their smallest work."""


def _named(*, in_copy: bool) -> list[Any]:
    names = [name for name, target in HERE.items() if target.in_copy == in_copy]
    return [pytest.param(name, marks=pytest.mark.proof) if name in LONG else name for name in names]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_long_target_is_run_in_the_file_of_the_table(name: str) -> None:
    target = ELSEWHERE[name]
    assert target.line in (PROJECT / target.file).read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", _named(in_copy=False))
def test_a_target_does_its_smallest_work(name: str, environment: dict[str, str], tmp_path: Path) -> None:
    words = [word.format(folder=tmp_path) for word in HERE[name].words]
    done = run(["make", "-C", str(PROJECT), name, *words], environment, tmp_path, timeout_s=1500)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert HERE[name].prints in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", _named(in_copy=True))
def test_a_target_that_writes_into_the_project_does_so_in_a_copy(
    name: str, environment: dict[str, str], copy: Path
) -> None:
    before = {file.name: file.read_bytes() for file in copy.glob("requirements*.txt")}
    done = run(["make", "-C", str(copy), "--old-file=setup", name], environment, copy, timeout_s=1500)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert HERE[name].prints in done.stdout
    if name == ".env":
        assert (copy / ".env").stat().st_mode & 0o077 == 0
        assert (copy / ".env").read_text("utf-8").count("=") > 4
    else:
        assert {file.name: file.read_bytes() for file in copy.glob("requirements*.txt")} == before
