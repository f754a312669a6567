"""The folders of a stack under its state folder, and the secrets that it keeps there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shelfsync.settings_file import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Place:
    """The folders of one stack."""

    home: Path
    project: Path = PROJECT

    @property
    def airflow(self) -> Path:
        return self.home / "airflow"

    @property
    def logs(self) -> Path:
        """One file a service; Airflow's task logs are under `airflow`."""
        return self.home / "logs"

    @property
    def run(self) -> Path:
        """Process ids, ports and locks: files that can be deleted while nothing runs."""
        return self.home / "run"

    @property
    def secrets(self) -> Path:
        return self.home / "secrets"

    def make(self) -> None:
        make_home(self.home)
        for folder in (self.airflow, self.logs, self.run):
            folder.mkdir(parents=True, exist_ok=True)
        self.secrets.mkdir(mode=0o700, exist_ok=True)


def make_home(home: Path) -> None:
    """The state folder. Other users may enter it, as the OS user of PostgreSQL has to, but cannot list it."""
    if not home.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o711)


def write_whole(file: Path, text: str) -> None:
    """Replaces the file at once: whoever reads it meanwhile, or after a kill, has the old text or the new one, whole."""
    with _partial(file, text) as partial:
        partial.replace(file)


def kept_secret(file: Path, make: Callable[[], str]) -> str:
    """The secret in `file`, created for its owner alone (mode 600) at the first call; simultaneous callers get the same secret."""
    if not file.exists():
        with _partial(file, make()) as partial, contextlib.suppress(FileExistsError):
            os.link(partial, file)  # appears whole, and only if no other process was faster
    return file.read_text("utf-8")


@contextlib.contextmanager
def _partial(file: Path, text: str) -> Iterator[Path]:
    """A file with this text beside `file`, of mode 600; it is gone at the end unless it took that place."""
    descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", suffix=".partial", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)
