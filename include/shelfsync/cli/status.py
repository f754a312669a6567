"""`shelfsync status`."""

from __future__ import annotations

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told


def status(as_json: AsJson = False) -> None:
    """Where every vendor stands: each row of the ERP in one column, what is restored, and how old the oldest change is."""
    with house() as opened:
        told = opened.status()
    if as_json:
        print_told(told, as_json, [])
        return
    from shelfsync.terminal import orders_lines, status_tables, wide_console

    console = wide_console()
    for stop in told["paused"]:
        console.print(f"PAUSED: {stop}")
    for line in told["restorations"]:
        console.print(f"RESTORED: {line}")
    for line in told["alarms"]:
        console.print(f"ALARM: {line}")
    for table in status_tables(told):
        console.print(table)
    if told["forecast"]["requests"] or told["forecast"]["waiting"]:
        console.print(f"on their way: {told['forecast']['sentence']}")
    for line in orders_lines(told["orders"]):
        console.print(line)
