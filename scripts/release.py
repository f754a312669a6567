"""`make release VERSION=1.0.0`: all that a release consists of, into dist/release-1.0.0. It tags nothing and publishes nothing.

The wheels are built from a copy of the last commit, in which the version and the pins of requirements*.txt are written into
pyproject.toml. Two builds of a commit give the same bytes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)((a|b|rc)(0|[1-9]\d*))?")
PIN = re.compile(r"^([A-Za-z0-9._-]+(?:\[[^\]]+\])?==[^\s;\\]+)\s*(;[^\\]*)?", re.MULTILINE)
WHOLE = {
    "erp": "requirements-erp.txt",
    "celery": "requirements-celery.txt",
    "kubernetes": "requirements-kubernetes.txt",
    "fab": "requirements-fab.txt",
}
"""Extras that are a whole file; those of pyproject.toml are packages of requirements-erp.txt."""
RECORDING = "tests/shelfsync/migrations/release.tar.xz"
HEAD = "include/shelfsync/migrations/upgrade.py"
RECIPES = ("Dockerfile", "docker-compose.yaml", "deploy", "contract/openapi.yaml", "sandbox/Dockerfile")
CLIENT = """[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "shelfsync-client"
version = "{version}"
description = "The typed client of the delivery platform, without the rest of shelfsync."
requires-python = ">=3.11"
dependencies = {dependencies}

[tool.hatch.build.targets.wheel]
packages = ["include/partner_api"]
"""


class ReleaseError(Exception):
    """Why nothing is built, and what to do."""


def pins(text: str) -> list[str]:
    """The requirements of a locked file without their hashes: `name==version ; marker`."""
    return [f"{name} {marker}".strip() if marker else name for name, marker in (m.groups() for m in PIN.finditer(text))]


def named(pinned: list[str], names: tuple[str, ...]) -> list[str]:
    """Those of the pins that have one of the names."""
    return [pin for pin in pinned if re.split(r"[\[=]", pin)[0] in names]


def listed(values: list[str]) -> str:
    """As an array of TOML; a marker has single quotes."""
    return "[" + ", ".join('"' + value.strip().replace('"', "'") + '"' for value in values) + "]"


def notes(changelog: str, version: str) -> str:
    """The section of the version. Raises a ReleaseError if there is none, or an empty one."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    for section in sections:
        title, _, body = section.partition("\n")
        if title.split() and title.split()[0] == version and body.strip():
            return f"# shelfsync {version}\n\n{body.strip()}\n"
    raise ReleaseError(
        f"CHANGELOG.md: there is no section `## {version}` with text, so the release has no notes. "
        f"{_noted(version)}, commit, and run make release VERSION={version} again."
    )


def _noted(version: str) -> str:
    """What makes the section. A trial leaves what is not released where it is."""
    return (
        f"Rename `## Unreleased` to `## {version}`"
        if version.replace(".", "").isdigit()
        else f"Write `## {version}` above `## Unreleased`"
    )


def checked(version: str) -> None:
    if not VERSION.fullmatch(version):
        raise ReleaseError(
            f"VERSION={version!r} is no version: three numbers with points are, with a1, b1 or rc1 behind them for a trial. "
            "Run make release VERSION=1.0.0."
        )


def clean(root: Path) -> None:
    changed = git(root, "status", "--porcelain").splitlines()
    if changed:
        raise ReleaseError(
            f"{root}: {len(changed)} files are not committed, first {changed[0][3:]}: a release is a commit. "
            "Commit or remove them (git status), then run make release again."
        )


def recorded(root: Path) -> None:
    """Later versions are tested on what is recorded: it has to be of this one."""
    newest = re.search(r'^HEAD = "(.+)"$', (root / HEAD).read_text("utf-8"), re.MULTILINE)
    with tarfile.open(root / RECORDING) as archive:
        revision = json.load(archive.extractfile("about.json"))["revision"]  # type: ignore[arg-type]
    if newest is None or newest[1] != revision:
        raise ReleaseError(
            f"{RECORDING} is of revision {revision}, not of this release. Run make record-release, commit, then run make release again."
        )


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)  # noqa: S603, S607
    if done.returncode:
        raise ReleaseError(
            f"{root}: `git {words[0]}` failed: {done.stderr.strip()}. A release is a commit: clone the repository, then run make release again."
        )
    return done.stdout


def run(*command: str, cwd: Path = ROOT, **environment: str) -> None:
    """Runs a part; a ReleaseError if it fails."""
    if subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, check=False).returncode:  # noqa: S603
        raise ReleaseError(f"`{' '.join(command)}` failed. Its output above shows why; then run make release again.")


def staged(root: Path, to: Path, version: str) -> None:
    """The last commit in `to`, with version, pins, DAGs and plugin where a wheel needs them."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=root, capture_output=True, check=True).stdout  # noqa: S607
    subprocess.run(["tar", "x", "-C", str(to)], input=archive, check=True)  # noqa: S603, S607
    erp = pins((to / WHOLE["erp"]).read_text("utf-8"))
    given = tomllib.loads((to / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    extras = {name: named(erp, tuple(names)) for name, names in given.items()}
    extras |= {name: pins((to / file).read_text("utf-8")) for name, file in WHOLE.items()}
    project = to / "pyproject.toml"
    text = written(project.read_text("utf-8"), version)
    text, first = re.subn(
        r"^dependencies = \[\].*$",
        lambda _: f"dependencies = {listed(pins((to / 'requirements.txt').read_text('utf-8')))}",
        text,
        flags=re.MULTILINE,
    )
    optional = "".join(f"{name} = {listed(values)}\n" for name, values in extras.items())
    text, second = re.subn(
        r"^(\[project\.optional-dependencies\]).*\n(?:[a-z0-9]+ = .*\n)*",
        lambda m: f"{m[1]}\n{optional}",
        text,
        flags=re.MULTILINE,
    )
    if not (first and second):
        raise ReleaseError(
            "pyproject.toml: dependencies and optional dependencies are not where scripts/release.py expects them. "
            "Change `staged` there."
        )
    project.write_text(text, "utf-8")
    sandbox = to / "sandbox/pyproject.toml"
    sandbox.write_text(written(sandbox.read_text("utf-8"), version), "utf-8")
    deployed = to / "include/shelfsync/deployed"
    (deployed / "plugins").mkdir(parents=True)
    shutil.copytree(to / "dags", deployed / "dags")
    shutil.copy2(to / "plugins/shelfsync_plugin.py", deployed / "plugins")
    client = to / "client"
    shutil.copytree(to / "include/partner_api", client / "include/partner_api")
    wanted = named(pins((to / "requirements.txt").read_text("utf-8")), ("httpx", "pydantic"))
    (client / "pyproject.toml").write_text(CLIENT.format(version=version, dependencies=listed(wanted)), "utf-8")


def written(text: str, version: str) -> str:
    return re.sub(r'^version = ".*"$', f'version = "{version}"', text, count=1, flags=re.MULTILINE)


def wheels(source: Path, to: Path, instant: str) -> None:
    """The three wheels, by the pinned build tool. `instant`: the commit's, in seconds, so that each build gives the same bytes."""
    for part in (source, source / "sandbox", source / "client"):
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(to)]
        constraint = str(source / "requirements-build.txt")
        run(*command, "--build-constraint", constraint, str(part), SOURCE_DATE_EPOCH=instant)


def release(version: str, root: Path = ROOT, *, site: bool = True) -> Path:
    """Builds all into dist/release-VERSION and returns that folder. `site`: with documentation and SBOM."""
    checked(version)
    clean(root)
    text = notes((root / "CHANGELOG.md").read_text("utf-8"), version)
    recorded(root)
    to = root / "dist" / f"release-{version}"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        staged(root, source, version)
        wheels(source, to, git(root, "log", "-1", "--format=%ct").strip())
        for file in source.glob("requirements*.txt"):
            shutil.copy2(file, to)
        for recipe in RECIPES:
            (to / "images" / recipe).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (source / recipe).is_dir() else shutil.copy2
            copy(source / recipe, to / "images" / recipe)
    (to / "NOTES.md").write_text(text, "utf-8")
    if site:
        run("make", "--no-print-directory", "sbom", cwd=root)
        run("scripts/site.sh", cwd=root)
        shutil.copy2(root / "dist/sbom.json", to)
        shutil.copytree(root / "dist/docs", to / "docs")
    return to


def main() -> int:
    try:
        to = release(sys.argv[1] if len(sys.argv) > 1 else "")
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    for file in sorted(to.iterdir()):
        print(f"release: {file.relative_to(ROOT)}")
    print("release: built, neither tagged nor published. Try it: docs/how-to/install.md, From the wheels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
