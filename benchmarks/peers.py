"""Where other engines and tools are: beside the project, never among what it runs with."""

from __future__ import annotations

import os
import sys


def on_path() -> None:
    """Makes requirements-bench.txt importable, after everything that the project itself has."""
    folder = os.environ["SHELFSYNC_BENCH_PEERS"]
    if folder not in sys.path:
        sys.path.append(folder)
