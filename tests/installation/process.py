"""A process as a user starts one: its command, its environment, its folder, and nothing else."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TIMEOUT_S = 300.0


def run(
    command: list[str], environment: dict[str, str], folder: Path, *, timeout_s: float = TIMEOUT_S
) -> subprocess.CompletedProcess[str]:
    """How it ended, with what it wrote. No terminal is behind it."""
    return subprocess.run(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
