"""`shelfsync plan`."""

from __future__ import annotations

from shelfsync.cli.options import AsJson, Full, Vendors  # noqa: TC001  typer reads annotations
from shelfsync.cli.run import run


def plan(vendor: Vendors = None, full: Full = False, as_json: AsJson = False) -> None:
    """Show what a sync would send. Sends nothing."""
    run(vendor, full=full, dry_run=True, as_json=as_json)
