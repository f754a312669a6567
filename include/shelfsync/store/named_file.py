"""A file that a person names for a command to write: whole or not at all, and in place of none but its own kind."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OWNER_ALONE, ALL_MAY_READ = 0o600, 0o644
_OF_A_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""What the system says without a path while a file is written."""


@dataclass(frozen=True)
class NamedFile:
    """The file at `path`, or where a link there leads. `argument` names it in errors, and `kind` is what it is: "a plan".

    `is_own`: whether an existing file is of this kind. Any other file that is not empty may be the only copy of something, so it is replaced
    only with `replace`, the person's word for it. What is no regular file is never replaced.
    """

    path: Path
    argument: str
    kind: str
    is_own: Callable[[Path], bool]
    replace: bool = False
    rights: int = OWNER_ALONE
    """Of a new file; one that is replaced gives its own."""
    private: bool = False
    """One that is replaced gets `rights`, too, and before the work: others may have been able to read it."""

    def check(self) -> None:
        """Raises ConfigurationError if the file cannot be written, or must not be replaced. Call it before long work."""
        with self._errors():
            target = self._target()
            self._reject_foreign(target)
            if self.private and target.exists():
                target.chmod(self.rights)
            with tempfile.TemporaryDirectory(prefix=f".{target.name[:40]}.", dir=target.parent):
                pass

    @contextlib.contextmanager
    def writing(self) -> Iterator[Path]:
        """A path to write to; it takes the place of the file at the end, with the rights of an older one. ConfigurationError: as `check`."""
        with self._errors():
            target = self._target()
            mode = self._reject_foreign(target)
            # a folder of its own: in a container, a process that was killed had the number that this one has
            with tempfile.TemporaryDirectory(prefix=f".{target.name[:40]}.", dir=target.parent) as folder:
                incomplete = Path(folder) / target.name
                yield incomplete
                incomplete.chmod(mode)
                with incomplete.open("rb") as written:
                    os.fsync(written.fileno())
                incomplete.replace(target)

    def _target(self) -> Path:
        """Where the file is. A link stays, and what it leads to is written."""
        return Path(os.path.realpath(self.path))

    def _reject_foreign(self, target: Path) -> int:
        """The rights that the new file gets."""
        try:
            found = target.lstat()
        except FileNotFoundError:
            if not target.parent.is_dir():
                raise self._error(f"there is no folder {target.parent}", "Make it, or name another file.") from None
            return self.rights
        if stat.S_ISDIR(found.st_mode):
            raise self._error(f"{self.path} is a folder", f"Name a file in it, such as {self.path / 'NAME'}.")
        if not stat.S_ISREG(found.st_mode):
            raise self._error(f"{self.path} is no regular file, so it is not replaced", "Name another file.")
        if found.st_size and not self.replace and not self.is_own(target):
            raise self._error(
                f"{self.path} exists and cannot be read as {self.kind}, so it is not replaced",
                "Name another file, move this one away, or add --replace if it may be lost.",
            )
        return stat.S_IMODE(found.st_mode)

    def _error(self, problem: str, remedy: str) -> ConfigurationError:
        return ConfigurationError(self.argument, problem, remedy)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Tells an error of the system about this file or its folder in one line. Others go on: they are about something else."""
        try:
            yield
        except OSError as error:
            if not self._concerns(error):
                raise
            raise self._error(
                f"{self.path} cannot be written: {error.strerror or type(error).__name__}",
                "Free space there, or name a file in a folder that you can write to.",
            ) from None

    def _concerns(self, error: OSError) -> bool:
        if not isinstance(error.filename, str | bytes | Path):
            return error.errno in _OF_A_DISK
        named = Path(os.fsdecode(error.filename))
        return named.is_relative_to(self._target().parent) or self._target().is_relative_to(named)
