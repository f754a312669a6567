"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Vendors = Annotated[
    list[str] | None, typer.Option("--vendor", "-v", metavar="VENDOR", help="Only this vendor; may be repeated.")
]
Skus = Annotated[
    list[str] | None,
    typer.Option("--sku", metavar="SKU", help="Only this SKU of the vendors named, at once; may be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document for a script.")]
Full = Annotated[bool, typer.Option("--full", help="Send the whole assortment, not only what changed.")]
