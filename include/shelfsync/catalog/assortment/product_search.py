"""Products by code, barcode or name: in one store, or in the first few, everything that the ERP has; in all stores what an export has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shelfsync.catalog.assortment import product_names
from shelfsync.catalog.assortment.state import wanted
from shelfsync.catalog.ledger.vendors import known_vendors
from shelfsync.catalog.warehouse import products_by_beginning

if TYPE_CHECKING:
    from shelfsync.context import Context

MOST = 50
"""Products that are found at once."""
NAMES_OF = 5
"""Stores whose products are looked through if no store is asked for: chains sell much the same everywhere."""


@dataclass(frozen=True)
class Found:
    """A product. `stores`: in how many stores, as far as exports show it; `vendor`: one that has it."""

    sku: str
    name: str | None
    barcode: str | None
    vendor: str
    stores: int


def search(context: Context, text: str, vendor: str | None = None, *, most: int | None = None) -> list[Found]:
    """At most so many products, without a number MOST: first those whose code begins like the text, then by barcode, then by name, which has each of its words."""
    if not text:
        return []
    most = most or MOST
    skus: list[str] = []
    with context.engine.connect() as connection:
        names = sorted(known_vendors(connection))[:NAMES_OF] if vendor is None else [vendor]
        snapshots = {name: wanted(connection, name) for name in names}
        if vendor is None:
            skus += products_by_beginning.skus_beginning(connection, text, most=most)
            skus += products_by_beginning.skus_of_barcodes(connection, text, most=most)
    barcodes: dict[str, str | None] = {}
    at: dict[str, str] = {}
    for name in names:
        if len(skus) + len(at) < most:
            for sku, barcode in _in_store(context, snapshots[name], text, most).items():
                barcodes.setdefault(sku, barcode)
                at.setdefault(sku, name)
    for name in names:
        if len(skus) + len(at) < most:
            for sku in product_names.with_words(context, name, text.split(), most=most):
                at.setdefault(sku, name)
    skus = [*dict.fromkeys([*skus, *at])][:most]
    with context.engine.connect() as connection:
        seen = products_by_beginning.stores_of(connection, skus)
    where = {sku: found for sku in skus if (found := vendor or at.get(sku) or seen[sku]["vendor"])}
    called: dict[str, str] = {}
    for name in set(where.values()):
        called |= product_names.of_skus(context, name, [sku for sku, at_store in where.items() if at_store == name])
    return [
        Found(sku, called.get(sku), barcodes.get(sku) or seen[sku]["barcode"], where[sku], seen[sku]["stores"])
        for sku in where
    ]


def _in_store(context: Context, snapshot: str | None, text: str, most: int) -> dict[str, str | None]:
    """SKU -> barcode of a store's products whose code or barcode begins like the text; codes come first."""
    if snapshot is None or not context.lake.exists(snapshot):
        return {}
    import pyarrow.compute as pc

    rows = context.lake.read_table(snapshot, ["sku", "barcode"])
    found: dict[str, str | None] = {}
    for name in ("sku", "barcode"):
        here = rows.filter(pc.starts_with(rows[name], text)).slice(0, most)
        found |= {row["sku"]: row["barcode"] for row in here.to_pylist()}
    return found
