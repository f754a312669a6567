"""What a measured part costs: CPU seconds, wall, peak memory. Linux: the peak is the kernel's own count (VmHWM)."""

from __future__ import annotations

import contextlib
import re
import time
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
            self.idle_bytes = _memory("VmRSS")
        self._began = (time.process_time() + self.others(), time.perf_counter())

    def __exit__(self, *_: object) -> None:
        lap_s = time.perf_counter() - self._began[1]
        self.wall_s += lap_s
        self.laps_s.append(lap_s)
        self.cpu_s += time.process_time() + self.others() - self._began[0]
        self.peak_bytes = _memory("VmHWM")

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


def _memory(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) * 1024
