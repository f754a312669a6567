"""`shelfsync export`."""

from __future__ import annotations

import uuid

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson, Vendors  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told, telling


def export(vendor: Vendors = None, as_json: AsJson = False) -> None:
    """Bring back what the platform really shows, compare it with what is wanted, and have the next delta heal what differs."""
    from shelfsync.wiring import failed_line

    with house() as opened, telling() as tell:
        summary = opened.export(f"cli/{uuid.uuid4()}", tuple(vendor or ()), tell=tell)
    lines = summary.pop("lines")
    print_told(summary, as_json, lines)
    error = failed_line(summary)
    if error is not None:
        raise typer.Exit(error.exit_code)
