"""`shelfsync housekeeping`."""

from __future__ import annotations

from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count what could go.")]


def housekeeping(dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Remove what is older than its retention (SHELFSYNC_HOUSEKEEPING__...) and needed by nothing."""
    with house() as opened:
        told = opened.keep_house(dry_run=dry_run)
    print_told(told, as_json, told.pop("lines"))
