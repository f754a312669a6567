"""`shelfsync sync`."""

from __future__ import annotations

from shelfsync.cli.options import AsJson, Full, Skus, Vendors  # noqa: TC001  typer reads annotations
from shelfsync.cli.run import run


def sync(vendor: Vendors = None, sku: Skus = None, full: Full = False, as_json: AsJson = False) -> None:
    """Bring the platform to what the ERP says now, and wait for its word on every SKU.

    With --sku: of the vendors named these SKUs alone, at once; everything else waits for the next delta.
    """
    run(vendor, full=full, as_json=as_json, skus=tuple(sku or ()))
