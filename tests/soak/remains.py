"""What `make down` leaves: no process that was started from the installation's folder, no file that belongs to running or is half written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNNING = ("run/*.pid", "run/ready.json")
UNFINISHED = ("**/*.partial", "**/*.tmp", "**/*.part", "tmp/*")
"""`tmp` is the folder for temporary files that a soak gives to the installation. Not `lake/.staging`: a process that is killed while it
writes leaves a file there, and housekeeping removes it after SHELFSYNC_HOUSEKEEPING__LAKE_GRACE_HOURS, at least an hour."""


def processes(home: Path) -> list[str]:
    """Processes with the folder in their command line or environment, except this process and its parents."""
    ours = {process.pid for process in (psutil.Process(), *psutil.Process().parents())}
    return sorted(f"process {pid} is left: {command[:200]}" for pid, command in _with(str(home)) if pid not in ours)


def files(home: Path) -> list[str]:
    """Files by their path below the folder."""
    found = {path for pattern in (*RUNNING, *UNFINISHED) for path in home.glob(pattern)}
    return sorted(f"file {path.relative_to(home)} is left" for path in found)


def _with(text: str) -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            command, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue  # it has ended, or belongs to another user
        if text.encode() in command + environment:
            yield int(folder.name), command.replace(b"\0", b" ").decode(errors="replace")
