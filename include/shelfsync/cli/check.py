"""`shelfsync check`."""

from __future__ import annotations

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson, Vendors  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told


def check(vendor: Vendors = None, as_json: AsJson = False) -> None:
    """Try database, ERP and platform, and say in one line what is wrong with the configuration."""
    with house() as opened:
        opened.check(tuple(vendor or ()))
        warnings = opened.warnings()
    lines = ["database, ERP and platform answer; nothing was sent", *(f"warning: {line}" for line in warnings)]
    print_told({"ok": True, "warnings": warnings}, as_json, lines)
