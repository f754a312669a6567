"""The OS user that PostgreSQL runs as: the current user, or, because PostgreSQL does not run as root, a separate user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

OWN_NAME = "shelfsync-postgres"


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
