"""The names of products beside their SKUs, wherever a person reads a SKU. They are kept with the vendor and change nothing that is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.catalog.ledger import vendors

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pyarrow as pa

    from shelfsync.context import Context


def kept(context: Context, vendor: str, found: pa.Table) -> str | None:
    """Writes the vendor's names (NAMES) with the found ones in place of theirs, and returns the lake path; None: nothing is new."""
    if not found.num_rows:
        return None
    from shelfsync.catalog.product_names import laid_over
    from shelfsync.schemas import NAMES

    with context.engine.connect() as connection:
        path = vendors.names_path(connection, vendor)
    there = path if path is not None and context.lake.exists(path) else None
    names = laid_over(context.lake.read_or_empty(there, NAMES), found)
    return None if names is None else context.lake.write_table("names", vendor, names)


def of_skus(context: Context, vendor: str, skus: Collection[str]) -> dict[str, str]:
    """SKU -> what the ERP calls it, of those that it has a name for."""
    with context.engine.connect() as connection:
        path = vendors.names_path(connection, vendor)
    if path is None or not skus or not context.lake.exists(path):
        return {}
    return {row["sku"]: row["name"] for row in context.lake.find_all(path, skus)}


NAMED_BY = 5
"""How many vendors are looked at for the names of products that several have."""


def of_any(context: Context, names: Collection[str], skus: Collection[str]) -> dict[str, str]:
    """The same for products of several vendors, or of all (`*`): each has the name that the first of a few vendors gives it."""
    if "*" in names:
        with context.engine.connect() as connection:
            names = list(vendors.known_vendors(connection))
    found: dict[str, str] = {}
    for name in sorted(names)[:NAMED_BY]:
        found = of_skus(context, name, set(skus) - found.keys()) | found
    return found


def with_names(context: Context, vendor: str, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows, which have a `sku` of this vendor, with its `name`; None: the ERP gave none."""
    rows = list(rows)
    names = of_skus(context, vendor, {row["sku"] for row in rows})
    return [{**row, "name": names.get(row["sku"])} for row in rows]
