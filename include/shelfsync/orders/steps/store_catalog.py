"""What the platform's catalog has of the SKUs that a picking result adds: asked for once, and used for a quarter of an hour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.assortment import unknown_skus
from shelfsync.orders.cart import Product
from shelfsync.orders.ledger import picking

if TYPE_CHECKING:
    from collections.abc import Collection

    from partner_api.catalog import CatalogEntry
    from shelfsync.context import Context

FRESH_S = 900.0
"""How long an answer is used: as long as a catalog change may take to reach the platform's app."""
_PAGE_SIZE = 500
_PAGES_MAX = 40
"""A limit above the products of any store. A short SKU is part of many names, so it may be on a late page of the search."""


def products(context: Context, vendor: str, skus: Collection[str]) -> dict[str, Product]:
    """The SKUs that the catalog has, active or not. One request for each SKU without a recent answer. PartnerError: no answer."""
    with context.engine.connect() as connection:
        rows = picking.recent(connection, vendor, skus, within_s=FRESH_S)
    products_by_sku = {row.sku: Product(row.sku, row.price, row.by_weight, row.name) for row in rows if row.known}
    asked = sorted(set(skus) - {row.sku for row in rows})
    unknown = unknown_skus.unknown_now(context, vendor) if asked else {}
    for sku in asked:
        entry = _listed(context, vendor, sku)
        with context.engine.begin() as connection:
            picking.keep(
                connection,
                vendor,
                sku,
                known=entry is not None,
                price=entry.price if entry else None,
                by_weight=entry.is_sold_by_weight if entry else None,
                name=entry.title if entry else None,
            )
        if entry is not None:
            unknown_skus.release_listed(context, vendor, unknown, [sku])
            products_by_sku[sku] = Product(sku, entry.price, entry.is_sold_by_weight, entry.title)
    return products_by_sku


def _listed(context: Context, vendor: str, sku: str) -> CatalogEntry | None:
    """The entry of exactly this SKU; the platform's search matches names too."""
    client = context.open_platform()
    for number in range(1, _PAGES_MAX + 1):
        page = client.list_catalog(vendor, number, _PAGE_SIZE, query_term=sku, priority="order")
        for entry in page.products:
            if entry.sku == sku:
                return entry
        if not page.products or (page.total_pages is not None and number >= page.total_pages):
            return None
    return None
