"""How a command that ran steps ends: the error for the state of its report, and so its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.catalog.state import RunState
from shelfsync.cli.command import Answer
from shelfsync.errors import (
    HeldError,
    PartlyFailedError,
    PassedOverError,
    RunFailedError,
    ShelfsyncError,
    StaleRunError,
)

if TYPE_CHECKING:
    from collections.abc import Sized

    from shelfsync.terminal import FittedTable

_ENDED: dict[str, type[ShelfsyncError]] = {
    RunState.PARTLY: PassedOverError,
    RunState.PARTLY_FAILED: PartlyFailedError,
    RunState.FAILED: RunFailedError,
    "superseded": StaleRunError,  # a run of promotions alone
}
"""The error of a run that ended in this state."""


def summed(summary: dict[str, Any], lines: list[str | FittedTable] | None = None) -> Answer:
    """The report of a run, and the error for its state."""
    lines = summary.pop("lines") if lines is None else lines
    return Answer(summary, lines, run_error(summary), _brief(summary))


def run_error(summary: dict[str, Any]) -> ShelfsyncError | None:
    """The error for the state of a run's report, or None. What waits for a person is in it; alone, it is an error of its own."""
    error, waits = _ENDED.get(summary["state"]), summary.get("waits")
    if error is None:
        return HeldError(waits["line"]) if waits else None
    message = str(summary["error"])
    return error(f"{message.rstrip('.')}. Besides, {waits['line']}" if waits else message)


def _brief(summary: dict[str, Any]) -> str | None:
    """What a report in full view does not have to say again: how many failed, and what waits for a person; None: nothing shorter is known."""
    brief, waits = summary.get("brief"), summary.get("waits")
    if _ENDED.get(summary["state"]) is not None and brief is None:
        return None
    return ". ".join(filter(None, (brief, waits and waits.get("brief")))) or None


def partly(result: dict[str, Any]) -> PartlyFailedError | None:
    """The error of a recovery that left something open."""
    failed = result["failed"]
    if not failed:
        return None
    name, reason = next(iter(failed.items()))
    return PartlyFailedError(f"{failures(failed)}; the first is {name}: {reason}")


def failures(failed: Sized) -> str:
    """How many failed."""
    return f"{len(failed)} failed"
