"""The command that a person runs after a run of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.state import RunState, VendorState
from shelfsync.decisions.state import HoldState

if TYPE_CHECKING:
    from typing import Any

NAMED_MAX = 5
"""A command for more vendors than this names none of them."""


def next_command(row: dict[str, Any], vendors: list[dict[str, Any]], holds: list[dict[str, Any]]) -> str | None:
    """The command to run next: recover after a dead process, repeat a failure or a passed-over vendor, or decide a hold."""
    if row["state"] == RunState.RUNNING:
        return None if row["alive"] else "shelfsync recover"
    if row["state"] != RunState.SUCCEEDED:
        wanted = (
            {VendorState.FAILED}
            if row["state"] in {RunState.FAILED, RunState.PARTLY_FAILED}
            else {VendorState.BUSY, VendorState.SUPERSEDED, VendorState.OPEN}
        )
        return _again(row, [vendor["vendor"] for vendor in vendors if vendor["state"] in wanted])
    waiting = [hold["hold_id"] for hold in holds if hold["state"] == HoldState.OPEN]
    return f"shelfsync holds show {waiting[0]}" if waiting else None


def _again(row: dict[str, Any], vendors: list[str]) -> str:
    """The same run once more, for these vendors."""
    words = ["shelfsync", "plan" if row["dry_run"] else "sync"]
    if row["kind"] == "full":
        words.append("--full")
    names = vendors if 0 < len(vendors) <= NAMED_MAX else row["vendors_asked"]
    words += [f"--vendor {name}" for name in names]
    words += [f"--sku {sku}" for sku in row["skus"]]
    return " ".join(words)
