"""Who else on this machine may read what shelfsync writes, and who may change what it trusts."""

from __future__ import annotations

import grp
import os
import pwd
import stat
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

UMASK = 0o027
"""Files 0640, folders 0750: order files, logs and the lake hold what is no other user's business."""


def keep_private() -> None:
    """Files that this process writes are for its user and group only. The first line of every entry point."""
    os.umask(UMASK)


def reject_shared(file: Path, setting: str) -> None:
    """Raises ConfigurationError if another user can change or replace this file: its content decides what is run and sent."""
    for path in (file, file.parent, file.resolve(), file.resolve().parent):
        if why := _changed_by(path):
            raise ConfigurationError(
                setting,
                f"{str(path.absolute())!r} {why}, so another user may decide what is run and sent",
                f"Run `chown $(id -un) {path.absolute()}; chmod go-w {path.absolute()}`, or move the file to a folder of yours.",
            )


def _changed_by(path: Path) -> str | None:
    """Why another user may write here, or None. A sticky folder (/tmp) protects the files of each owner."""
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return None
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return None if status.st_uid in {0, os.geteuid()} else "is a link of another user"
    if status.st_uid not in {0, os.geteuid()}:
        return "belongs to another user"
    sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    others = stat.S_IWOTH if _is_private(status.st_gid) else stat.S_IWOTH | stat.S_IWGRP
    return "can be written by others" if status.st_mode & others and not sticky else None


def _is_private(group_id: int) -> bool:
    """Whether the group has the user's own name and no other member, as many systems give one to each user."""
    try:
        group, user = grp.getgrgid(group_id), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}
