"""What a stage of the benchmark is: several ways to the same answer, measured in turns, and what is expected of ours.

`Meter` finds what a measured part costs: CPU seconds, wall, peak memory. Linux: the peak is the kernel's own count (VmHWM).
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import sys
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmarks.chain import Chain

Answer = dict[str, Any]
Role = Literal["ours", "bound", "usual", "peer", "check"]
"""bound: the theoretical limit; usual: what a team would write; peer: another engine or tool; check: the slow path, for its answer only."""


def forget_settings() -> None:
    """Removes the caller's settings from this process: what is measured is a database, lake and platform of its own, and never theirs."""
    for name in [name for name in os.environ if name.upper().startswith("SHELFSYNC_")]:
        del os.environ[name]


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

    def laps(self, times: int, work: Callable[[], int]) -> int:
        """Does the work so many times, each measured, and once before, so that it is warm; what that one returned."""
        found = work()
        for _ in range(times):
            with self:
                work()
        return found

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


@dataclass(frozen=True)
class Way:
    """One way to do a stage. `run` measures with the meter and returns what it found, which is compared with the others' findings."""

    name: str
    role: Role
    title: str
    run: Callable[[Chain, Meter], Answer]
    share: float = 1.0
    """Of the chain's vendors; figures are shown for that share, and ratios are per row."""
    vendors_max: int = 1_000_000
    """Whatever the share: for what is linear in vendors and slow."""
    rows_max: int | None = None
    """Not measured on larger chains: it holds all of one in memory, or would take hours."""
    rounds_max: int = 99


@dataclass(frozen=True)
class Target:
    """What is expected; `value` finds the figure in what was measured, or None where a way was not measured at this size."""

    text: str
    value: Callable[[Measured], list[float]]
    unit: str = "times"
    at_most: float | None = None
    at_least: float | None = None
    from_rows: int = 0
    """Smaller chains are measured but not compared with the targets: fixed costs weigh more there."""

    @staticmethod
    def ratio(text: str, one: str, other: str, figure: str = "cpu_s", *, from_rows: int = 0, **limit: float) -> Target:
        """The figure of one way over that of the other, row for row; `limit`: at_most or at_least."""
        return Target(text, lambda m: m.ratio(one, other, figure), from_rows=from_rows, **limit)

    def holds(self, found: float) -> bool:
        """Whether the figure is within the target."""
        return (self.at_most is None or found <= self.at_most) and (self.at_least is None or found >= self.at_least)

    @property
    def limit(self) -> str:
        """The limit in a word."""
        return f"≤ {self.at_most:g} {self.unit}" if self.at_most is not None else f"≥ {self.at_least:g} {self.unit}"


@dataclass(frozen=True)
class Stage:
    """A stage, its ways, its targets; what every way's answer must have alike."""

    name: str
    title: str
    ways: tuple[Way, ...]
    targets: tuple[Target, ...] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    """The parts that are the same in every answer that has them, and what they are."""
    agree: Callable[[Mapping[str, Answer]], None] = lambda _: None
    """Raises an AssertionError if the answers differ in anything else."""

    def compare(self, answers: Mapping[str, Answer]) -> None:
        """Raises an AssertionError unless the answers, by way, agree."""
        for name, what in self.same.items():
            found = {way: answer[name] for way, answer in answers.items() if name in answer}
            assert len({str(part) for part in found.values()}) == 1, f"{what} differ: {found}"
        self.agree(answers)


@dataclass
class Measured:
    """All rounds of a stage: for each way one set of figures a round."""

    rows: int
    rounds: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def of(self, way: str, figure: str) -> list[float]:
        """One figure of a way, a round each; empty when it was not measured."""
        return [found[figure] for found in self.rounds.get(way, [])]

    def per_row(self, way: str, figure: str = "cpu_s") -> list[float]:
        """A figure for each row that the way worked on."""
        return [found[figure] / found["rows"] for found in self.rounds.get(way, [])]

    def mb_per_s(self, figure: str) -> list[float]:
        """Megabytes of body a second of that figure of ours."""
        return [b / s / 1e6 for b, s in zip(self.of("ours", "bytes"), self.of("ours", figure), strict=True)]

    def ratio(self, one: str, other: str, figure: str = "cpu_s") -> list[float]:
        """The figure of one way over that of the other, row for row and round for round."""
        ours, theirs = self.per_row(one, figure), self.per_row(other, figure)
        if len(ours) > len(theirs) > 0:  # a slow way is measured once
            theirs = (theirs * len(ours))[: len(ours)]
        if len(theirs) > len(ours) > 0:
            ours = (ours * len(theirs))[: len(theirs)]
        return [a / b for a, b in zip(ours, theirs, strict=True)] if ours and theirs else []


def peers_on_path() -> None:
    """Makes requirements-bench.txt importable, after everything that the project itself has."""
    folder = os.environ["SHELFSYNC_BENCH_PEERS"]
    if folder not in sys.path:
        sys.path.append(folder)
