"""`shelfsync explain`."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told

Vendor = Annotated[str, typer.Argument(metavar="VENDOR", help="The platform's identifier of the store.")]
Sku = Annotated[str, typer.Argument(metavar="SKU")]
At = Annotated[
    dt.datetime | None,
    typer.Option("--at", metavar="TIME", help="As it was then: 2026-03-01T10:42 (UTC) or with an offset.",
                 formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M%z"]),
]  # fmt: skip


def explain(vendor: Vendor, sku: Sku, at: At = None, as_json: AsJson = False) -> None:
    """Tell why the platform shows what it shows for one SKU, what comes next, and everything that happened to it."""
    until = at if at is None or at.tzinfo else at.replace(tzinfo=dt.UTC)
    with house() as opened:
        told = opened.explain(vendor, sku, at=until)
    if as_json:
        print_told(told.as_dict(), as_json, [])
        return
    from shelfsync.terminal import timeline_table, wide_console

    console = wide_console()
    console.print(told.sentence, markup=False, highlight=False)
    console.print(timeline_table(told.events))
