"""What a stage of the benchmark is: several ways to the same answer, measured in turns, and what is expected of ours."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.chain import Chain
    from benchmarks.meter import Meter


Answer = dict[str, Any]
Role = Literal["ours", "bound", "usual", "peer", "check"]
"""bound: the theoretical limit; usual: what a team would write; peer: another engine or tool; check: the slow path, for its answer only."""


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

    def holds(self, found: float) -> bool:
        """Whether the figure is within the target."""
        return (self.at_most is None or found <= self.at_most) and (self.at_least is None or found >= self.at_least)

    @property
    def limit(self) -> str:
        """The limit in a word."""
        return f"≤ {self.at_most:g} {self.unit}" if self.at_most is not None else f"≥ {self.at_least:g} {self.unit}"


@dataclass(frozen=True)
class Stage:
    """A stage, its ways, its targets. `agree` gets every way's answer and raises an AssertionError where they differ."""

    name: str
    title: str
    ways: tuple[Way, ...]
    targets: tuple[Target, ...]
    agree: Callable[[Mapping[str, Answer]], None]


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

    def ratio(self, one: str, other: str, figure: str = "cpu_s") -> list[float]:
        """The figure of one way over that of the other, row for row and round for round."""
        ours, theirs = self.per_row(one, figure), self.per_row(other, figure)
        if len(ours) > len(theirs) > 0:  # a slow way is measured once
            theirs = (theirs * len(ours))[: len(ours)]
        if len(theirs) > len(ours) > 0:
            ours = (ours * len(theirs))[: len(theirs)]
        return [a / b for a, b in zip(ours, theirs, strict=True)] if ours and theirs else []


def agree_on(answers: Mapping[str, Answer], name: str, what: str) -> None:
    """AssertionError unless this part is the same in every answer that has it."""
    found = {way: answer[name] for way, answer in answers.items() if name in answer}
    assert len({str(part) for part in found.values()}) == 1, f"{what} differ: {found}"


def peers_on_path() -> None:
    """Makes requirements-bench.txt importable, after everything that the project itself has."""
    folder = os.environ["SHELFSYNC_BENCH_PEERS"]
    if folder not in sys.path:
        sys.path.append(folder)
