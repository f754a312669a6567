"""`shelfsync settle`."""

from __future__ import annotations

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told


def settle(as_json: AsJson = False) -> None:
    """Finish what events, tasks and processes lost: open jobs, and batches that never left."""
    with house() as opened:
        told = opened.settle()
    lines = [
        f"{told['confirmed']} jobs confirmed, {told['acknowledged']} acknowledged, {told['delivered']} batches sent, {told['open']} jobs open"
    ]
    print_told(told, as_json, [*lines, *(f"vendor {vendor}: {why}" for vendor, why in told["failed"].items())])
    if told["failed"]:
        raise typer.Exit(2)
