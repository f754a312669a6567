"""The machine that a figure belongs to."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

_LIBRARIES = ("pyarrow", "pandas", "httpx", "psycopg")


def described() -> dict[str, object]:
    """Processor, cores, memory, versions."""
    processor = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    return {
        "processor": processor[1] if processor else platform.processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory[1]) / 2**20) if memory else None,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in _LIBRARIES},
    }


def load_average() -> float:
    """How many processes wanted to run in the last minute."""
    return round(os.getloadavg()[0], 1)
