"""`shelfsync rejections`."""

from __future__ import annotations

from typing import Annotated

import typer

from shelfsync.cli.house import house
from shelfsync.cli.options import AsJson  # noqa: TC001  typer reads annotations
from shelfsync.cli.output import print_told

Vendor = Annotated[str | None, typer.Option("--vendor", "-v", metavar="VENDOR", help="Only this vendor.")]
Release = Annotated[
    list[str] | None,
    typer.Option(
        "--release", metavar="SKU", help="Let the next run send this SKU of the vendor again; may be repeated."
    ),
]


def rejections(vendor: Vendor = None, release: Release = None, as_json: AsJson = False) -> None:
    """What the platform refuses, since when, when it is tried again, and what to do about it; the table is warehouse.rejection."""
    if release and vendor is None:
        raise typer.BadParameter("--release needs --vendor: the same SKU may be refused for many vendors")
    with house() as opened:
        told = opened.rejections(vendor, release or ())
    print_told(told, as_json, told.pop("lines"))
