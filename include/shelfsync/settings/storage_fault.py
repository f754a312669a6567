"""A state folder or a lake that cannot be written: read-only, full, of another user, or a file in its place. An error of its setting."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError, ShelfsyncError
from shelfsync.settings.reading import read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL = {errno.ENOSPC, errno.EDQUOT}
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EIO}
_IN_PLACE = {errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENOENT}
"""Of the folder itself or one above it. Inside, they would be faults of shelfsync."""


def trouble(error: BaseException) -> ConfigurationError | None:
    """The error as one line with the setting of the folder; None: it is about something else."""
    if not isinstance(error, OSError) or error.errno not in _FULL | _CLOSED | _IN_PLACE:
        return None
    try:
        settings = read_settings()
    except ShelfsyncError:
        return None
    folders = {"SHELFSYNC_LAKE_URL" if settings.lake_url else "SHELFSYNC_HOME": Path(settings.lake)}
    folders["SHELFSYNC_HOME"] = settings.home
    named = Path(os.fsdecode(error.filename)).absolute() if isinstance(error.filename, str | bytes | Path) else None
    for setting, folder in folders.items():
        if _concerns(error, named, folder.absolute()):
            remedy = "Free space there" if error.errno in _FULL else "Give it to the user of this process"
            what = f"{named or folder} cannot be written: {error.strerror}"
            return ConfigurationError(setting, what, f"{remedy}, or name another folder; then run the command again.")
    return None


def _concerns(error: OSError, named: Path | None, folder: Path) -> bool:
    if named is None:
        return error.errno in _FULL
    if error.errno in _IN_PLACE:
        in_place = any(one.exists() and not one.is_dir() for one in (named, folder, *folder.parents))
        return folder.is_relative_to(named) or (named.is_relative_to(folder) and in_place)
    return named.is_relative_to(folder) or folder.is_relative_to(named)


@contextlib.contextmanager
def as_its_setting() -> Iterator[None]:
    """Raises the error of the setting instead of the system's."""
    try:
        yield
    except OSError as error:
        if (found := trouble(error)) is None:
            raise
        raise found from None
