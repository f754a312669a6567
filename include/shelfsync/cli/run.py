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


def run(vendor: list[str] | None, *, full: bool, as_json: bool, skus: tuple[str, ...] = ()) -> None:
    """Runs the path, prints what came of it, and ends with the exit code it stands for."""
    vendors = tuple(vendor or ())
    with house() as opened:
        opened.check(vendors)
        if skus:
            opened.clear_the_way(vendors)
        opened.settle()  # what an earlier process left open would keep its vendor from being sent
        run_id = opened.open_run("full" if full else "delta", f"cli/{uuid.uuid4()}", vendors, skus=skus)
        with telling() as tell:
            summary = reported(opened, run_id, lambda: opened.sync(run_id, dry_run=False, tell=tell))
    print_told(summary, as_json, summary.pop("lines"))
    end_with(summary)


def reported(opened: House, run_id: int, walk: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The run's summary; a run that breaks off is reported as failed before the error goes on."""
    try:
        return walk()
    except ShelfsyncError:
        opened.report(run_id)
        raise


def end_with(summary: dict[str, Any]) -> None:
    """Ends with the exit code that a summary stands for, unless all is well."""
    from shelfsync.wiring import failed_line

    error = failed_line(summary)
    if error is not None:
        raise typer.Exit(error.exit_code)
