"""Where a stack keeps what: the project's folder, and the folders under its state folder."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PROJECT = Path(__file__).resolve().parents[3]
"""dags/, plugins/ and include/ stand here; the project is installed in place, on a machine as in the image."""


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
        """Process ids, ports, locks: what belongs to running, and may be thrown away while nothing runs."""
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
    """The state folder. Others may step through it, as the OS user of PostgreSQL has to, but see nothing of what is in it."""
    if not home.is_dir():
        home.mkdir(parents=True, exist_ok=True)
        home.chmod(0o711)


def kept_secret(file: Path, make: Callable[[], str]) -> str:
    """The secret in `file`, made and written for its owner alone (mode 600) the first time; the same for all who ask at once."""
    if not file.exists():
        descriptor, partial = tempfile.mkstemp(prefix=f"{file.name}.", dir=file.parent)  # mode 600
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(make())
        try:
            os.link(partial, file)  # appears whole, and only if nobody else was faster
        except FileExistsError:
            pass
        finally:
            Path(partial).unlink()
    return file.read_text("utf-8")
