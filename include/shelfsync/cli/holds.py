"""`shelfsync holds list|show|approve|reject|rehearse`: what the guards hold, and the decision about it."""

from __future__ import annotations

import getpass
import json
from typing import Annotated, Any

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson, Vendors  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told
from shelfsync.errors import DataError

app = typer.Typer(help="What the guards hold back, and the decision about it.", no_args_is_help=True)

Number = Annotated[int, typer.Argument(metavar="HOLD", help="Number of the hold.")]
Why = Annotated[str | None, typer.Option("--why", metavar="TEXT", help="The reason, kept in the ledger.")]
Who = Annotated[
    str | None, typer.Option("--who", metavar="NAME", help="Who decides; the user of this machine if not said.")
]
Every = Annotated[bool, typer.Option("--all", help="Decided ones too.")]
Rows = Annotated[int, typer.Option("--rows", min=0, help="How many rows to show; 0: all.")]
Days = Annotated[float, typer.Option("--days", min=0, help="How far back to look.")]
Thresholds = Annotated[
    str | None,
    typer.Option(
        "--thresholds", metavar="JSON", help="Other thresholds of the rule for this once: '{\"share\": 0.6}'."
    ),
]


@app.command("list")
def list_holds(every: Every = False, as_json: AsJson = False) -> None:
    """Slices that wait for a person, newest first."""
    with house() as opened:
        found = opened.holds.listed(*(() if every else ("open",)))
    lines = [f"{row['hold_id']:>6}  {row['state']:<10}  {row['label']}: {row['message']}" for row in found]
    print_told({"holds": found}, as_json, lines or ["nothing is held for a person"])


@app.command()
def show(number: Number, rows: Rows = 50, as_json: AsJson = False) -> None:
    """One slice with its rows: those whose price moves most come first."""
    with house() as opened:
        found = opened.holds.show(number, rows=rows or None)
    print_told(found, as_json, _lines(found))


@app.command()
def approve(
    number: Number, why: Why = None, who: Who = None, thresholds: Thresholds = None, as_json: AsJson = False
) -> None:
    """Let a slice through, and send it; with --thresholds only what they let through, and the rest stays held."""
    said = _thresholds(thresholds)
    with house() as opened:
        person = who or getpass.getuser()
        if said is None:
            told = opened.holds.decide(number, approve=True, who=person, why=why)
        else:
            told = opened.holds.reconsider(number, said, who=person, why=why)
        sent = opened.holds.deliver(number) if told["state"] == "approved" else {"lines": []}
    print_told({**told, **sent}, as_json, [told["line"], *sent["lines"]])
    if told["state"] != "approved":
        raise typer.Exit(4)


@app.command()
def reject(number: Number, why: Why = None, who: Who = None, as_json: AsJson = False) -> None:
    """Keep a slice held until the ERP says something else."""
    with house() as opened:
        told = opened.holds.decide(number, approve=False, who=who or getpass.getuser(), why=why)
    print_told(told, as_json, [told["line"]])
    if told["state"] != "rejected":
        raise typer.Exit(4)


@app.command()
def rehearse(vendor: Vendors = None, days: Days = 30, as_json: AsJson = False) -> None:
    """What the guards would have held in the runs of the last days with the thresholds of today. Holds and sends nothing."""
    with house(read_only=True) as opened:
        told = opened.holds.rehearse(tuple(vendor or ()), days=days)
    print_told(told, as_json, told.pop("lines"))


def _thresholds(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise DataError(f"--thresholds: {text!r} is no JSON object; write '{{\"share\": 0.6}}'")
    return said


def _decision(one: dict[str, Any]) -> str:
    """One decision as a line."""
    thresholds = f" with the thresholds {one['thresholds']} for this once" if one["thresholds"] else ""
    why = f": {one['why']}" if one["why"] else ""
    return f"{one['decided_at']:%Y-%m-%d %H:%M:%S %Z}  {one['state']} by {one['decided_by']}{thresholds}{why}"


def _lines(found: dict[str, Any]) -> list[str]:
    head = [
        f"hold {found['hold_id']}: {found['label']}, {found['state']}"
        + (f" by {found['decided_by']}" if found["decided_by"] else ""),
        found["message"],
        f"thresholds: {found['thresholds']}",
        *(_decision(one) for one in found["decisions"]),
        "",
    ]
    names = ("price", "quantity", "active", "max_sales_quantity")
    for row in found["rows_shown"]:
        said = [f"{name} {row[f'{name}_before']} -> {row[name]}" for name in names if row[name] is not None]
        head.append(f"  {row['sku']}  {row['change']}  {', '.join(said)}")
    more = found["rows"] - len(found["rows_shown"])
    return [*head, f"  and {more} more (--rows 0 shows all)"] if more else head
