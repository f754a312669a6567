"""`make mutation`: plants one bug after the other in a copy of the tree and runs the tests that must fail.

Exit 0: every bug was caught by every test that is named beside it. A bug that can no longer be planted, a named test that is not
there, and one that fails without any bug are errors.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from mutation.bug import ROOT, bugs, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mutation.bug import Bug

TIMEOUT_S = 300.0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="the bugs whose names have these words in them")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th of them")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="copies of the tree that are worked in side by side"
    )
    parser.add_argument("--table", action="store_true", help="print the bugs, their promises and tests; plant nothing")
    options = parser.parse_args(arguments)
    chosen = [bug for bug in bugs() if options.only in bug.name][:: options.every]
    if options.table:
        print(table(chosen))
        return 0
    if not chosen:
        parser.error(f"no bug has {options.only!r} in its name")
    began_s = time.monotonic()
    with _copy() as tree:
        missed = _sound(tree, chosen) or _not_caught(tree, chosen, options.jobs)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} planted bugs caught in {time.monotonic() - began_s:.0f} s")
    for name in missed:
        print(f"  not caught: {name}")
    return 1 if missed else 0


def _sound(tree: Path, chosen: list[Bug]) -> list[str]:
    """Every named test must pass without a bug. Returns the bugs with a named test that fails."""
    troubles = [trouble for bug in chosen for edit in bug.edits if (trouble := edit.trouble(tree))]
    if troubles:
        raise SystemExit("\n".join(["cannot be planted any more:", *troubles]))
    every = sorted({test for bug in chosen for test in bug.caught_by})
    failed, output = _failing(tree, every)
    if failed is None or failed:
        print(output)
        return [f"{bug.name} (a test named beside it fails without it)" for bug in chosen if _hit(bug, failed)]
    return []


def _hit(bug: Bug, failed: set[str] | None) -> bool:
    return failed is None or bool(failed & {test.split("::")[1] for test in bug.caught_by})


def _not_caught(tree: Path, chosen: list[Bug], jobs: int) -> list[str]:
    """The names of the bugs that a test missed. Each job works in a copy of its own."""
    with contextlib.ExitStack() as copies, ThreadPoolExecutor(jobs) as pool:
        free: SimpleQueue[Path] = SimpleQueue()
        for copy in (tree, *(copies.enter_context(_copy()) for _ in range(jobs - 1))):
            free.put(copy)

        def caught(bug: Bug) -> bool:
            mine = free.get()
            try:
                return _caught(mine, bug)
            finally:
                free.put(mine)

        return [bug.name for bug, good in zip(chosen, pool.map(caught, chosen), strict=True) if not good]


def _caught(tree: Path, bug: Bug) -> bool:
    """Plants, runs, takes it out again."""
    began_s = time.monotonic()
    before = bug.plant(tree)
    try:
        failed, output = _failing(tree, bug.caught_by)
    finally:
        for place, text in before.items():
            place.write_text(text, encoding="utf-8")
    silent = [test for test in bug.caught_by if failed is None or test.split("::")[1] not in failed]
    took = f"{time.monotonic() - began_s:.0f} s"
    if silent:
        print(f"NOT CAUGHT  {bug.name} ({took}): {', '.join(silent)}\n{output}", flush=True)
    else:
        print(f"caught      {bug.name} ({took})", flush=True)
    return not silent


def _failing(tree: Path, tests: Sequence[str]) -> tuple[set[str] | None, str]:
    """Functions among these tests that fail, None when pytest could not do its work; and the end of its output."""
    report = tree / "mutation-report.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *tests]
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=_environment(tree),
            timeout=TIMEOUT_S + 5 * len(tests),
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return {test.split("::")[1] for test in tests}, f"not done after {late.timeout:.0f} s"  # a hang is a failure
    output = "\n".join(done.stdout.splitlines()[-25:])
    if done.returncode not in {0, 1}:
        return None, output
    cases = ET.parse(report).getroot().iter("testcase")
    failed = {case.get("name", "") for case in cases if {"failure", "error"} & {child.tag for child in case}}
    return {name.split("[")[0] for name in failed}, output


def _environment(tree: Path) -> dict[str, str]:
    """The copy precedes the installed project on the path, also in processes that a test starts."""
    path = os.pathsep.join(
        str(tree / folder)
        for folder in ("include", "plugins", "sandbox", "sandbox/tests/support", "tests", "tests/support")
    )
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "CI": "1", "EXAMPLES": "20"}


@contextlib.contextmanager
def _copy() -> Iterator[Path]:
    """A copy of the tree without environment, state and caches."""
    with tempfile.TemporaryDirectory(prefix="shelfsync-mutation-") as folder:
        tree = Path(folder) / "tree"
        Path(folder).chmod(0o711)
        shutil.copytree(ROOT, tree, ignore=_excluded)
        where = "import shelfsync, partner_sandbox; print(shelfsync.__file__, partner_sandbox.__file__)"
        imported = subprocess.run(
            [sys.executable, "-c", where], env=_environment(tree), cwd=tree, capture_output=True, text=True, check=True
        )
        if imported.stdout.count(str(tree)) != 2:
            raise SystemExit(f"the copy is not what Python imports: {imported.stdout}")
        # Compiled once. A file with a bug in it has another hash, and no other file is compiled again.
        compileall.compile_dir(
            tree, maxlevels=20, quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
        )
        yield tree


def _excluded(folder: str, names: list[str]) -> set[str]:
    at_top = Path(folder) == ROOT
    return {name for name in names if name in {"__pycache__", "node_modules"} or (at_top and name.startswith("."))}
