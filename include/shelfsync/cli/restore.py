"""`shelfsync restore`."""

from __future__ import annotations

import datetime as dt
import getpass
from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.instant import At, read_span
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told

Vendor = Annotated[str, typer.Argument(metavar="VENDOR")]
Skus = Annotated[list[str] | None, typer.Option("--sku", "-s", metavar="SKU", help="Only this SKU; may be repeated.")]
Category = Annotated[
    str | None, typer.Option("--category", "-c", metavar="NAME", help="Only the SKUs of this category of the ERP.")
]
Span = Annotated[
    dt.timedelta,
    typer.Option("--for", metavar="SPAN", parser=read_span, help="How long: 90m, 4h, 2d. Then the ERP counts again."),
]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason; `explain` shows it.")]
Plan = Annotated[bool, typer.Option("--plan", help="Only show what would change.")]
End = Annotated[bool, typer.Option("--end", help="Back: the ERP counts again from the next run on.")]


def restore(
    vendor: Vendor,
    at: At = None,
    sku: Skus = None,
    category: Category = None,
    span: Span = "4h",  # type: ignore[assignment] # typer reads it as if somebody had typed it
    why: Why = "",
    plan: Plan = False,
    end: End = False,
    as_json: AsJson = False,
) -> None:
    """Make a past acknowledged state the wanted one for a time, or end that. The next run sends it, through the guards.

    Prices, availability and sales limits are those of then; the stock stays the ERP's.
    """
    who = getpass.getuser()
    if end == (at is not None):
        raise typer.BadParameter("say either --at TIME or --end")
    if sku and category:
        raise typer.BadParameter("say --sku or --category, not both")
    if not end and not plan and not why.strip():
        raise typer.BadParameter("say --why: whoever wonders later is shown it")
    with house() as opened:
        if at is None:
            told = opened.end_restoration(vendor, who=who)
        else:
            order = {"skus": sku or None, "category": category, "why": why, "who": who, "dry_run": plan}
            told = opened.restore(vendor, at=at, span=span, **order)
    print_told(told, as_json, told.pop("lines"))
