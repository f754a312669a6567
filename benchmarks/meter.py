"""What a measured part costs (CPU seconds, wall, peak memory), and the machine that the figures belong to.

Linux: the peak is the kernel's own count (VmHWM).
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Meter:
    """Adds up what happens inside `with meter:`; everything else of the process (imports, making data, checking) is free."""

    def __init__(self) -> None:
        self.cpu_s = self.wall_s = 0.0
        self.idle_bytes = self.peak_bytes = 0
        self.laps_s: list[float] = []
        self.parts_cpu_s: dict[str, float] = {}
        self.others: Callable[[], float] = lambda: 0.0
        """CPU seconds of other processes that work for this one: a database server."""

    def __enter__(self) -> None:
        if not self.laps_s:
            self.idle_bytes = memory_bytes("VmRSS")
        self._began = (time.process_time() + self.others(), time.perf_counter())

    def __exit__(self, *_: object) -> None:
        lap_s = time.perf_counter() - self._began[1]
        self.wall_s += lap_s
        self.laps_s.append(lap_s)
        self.cpu_s += time.process_time() + self.others() - self._began[0]
        self.peak_bytes = memory_bytes("VmHWM")

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Measures, and notes the CPU seconds under a name of their own besides."""
        before_s = self.cpu_s
        with self:
            yield
        self.parts_cpu_s[name] = self.parts_cpu_s.get(name, 0.0) + self.cpu_s - before_s

    def figures(self) -> dict[str, float]:
        """All of it."""
        return {
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "peak_bytes": self.peak_bytes,
            "idle_bytes": self.idle_bytes,
            **{f"part {name}": cpu_s for name, cpu_s in self.parts_cpu_s.items()},
            "lap_s": sorted(self.laps_s)[len(self.laps_s) // 2] if self.laps_s else 0.0,
        }


def memory_bytes(name: str) -> int:
    """A figure of this process as the kernel counts it: VmRSS, VmHWM."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024


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
