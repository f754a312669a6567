"""`shelfsync explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.instant import At  # noqa: TC001  typer reads annotations
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told

Vendor = Annotated[str, typer.Argument(metavar="VENDOR", help="The platform's identifier of the store.")]
Sku = Annotated[str, typer.Argument(metavar="SKU")]


def explain(vendor: Vendor, sku: Sku, at: At = None, as_json: AsJson = False) -> None:
    """Tell why the platform shows what it shows for one SKU, what customers pay by promotion, what comes next, and what happened."""
    with house() as opened:
        told = opened.explain(vendor, sku, at=at)
    if as_json:
        print_told(told.as_dict(), as_json, [])
        return
    from shelfsync.terminal import timeline_table, wide_console

    console = wide_console()
    for line in (told.sentence, *told.promotions_wait):
        console.print(line)
    console.print(timeline_table(told.events))
