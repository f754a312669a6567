"""One run of the catalog path from the command line."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import typer

from shelfsync.cli.house import house
from shelfsync.cli.output import print_told, telling
from shelfsync.errors import ShelfsyncError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.wiring import House


def run(vendor: list[str] | None, *, full: bool, dry_run: bool, as_json: bool) -> None:
    """Runs the path, prints what came of it, and ends with the exit code it stands for."""
    from shelfsync.wiring import failed_line

    vendors = tuple(vendor or ())
    with house() as opened:
        opened.check(vendors)
        if not dry_run:
            opened.settle()  # what an earlier process left open would keep its vendor from being sent
        run_id = opened.open_run("full" if full else "delta", f"cli/{uuid.uuid4()}", vendors, dry_run=dry_run)
        with telling() as tell:
            summary = _sync(opened, run_id, dry_run, tell)
    lines = summary.pop("lines")
    print_told(summary, as_json, lines)
    error = failed_line(summary)
    if error is not None:
        raise typer.Exit(error.exit_code)


def _sync(opened: House, run_id: int, dry_run: bool, tell: Callable[[str, int, int], None]) -> dict[str, Any]:
    """The run; a run that breaks off is reported as failed before the error goes on."""
    try:
        return opened.sync(run_id, dry_run=dry_run, tell=tell)
    except ShelfsyncError:
        opened.report(run_id)
        raise
