"""What the vendor's catalog knows of the SKUs that a result brings into an order: the platform's own listing, asked SKU by SKU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.flow import rejected
from shelfsync.ledger import order_products
from shelfsync.orders.cart import Product

if TYPE_CHECKING:
    from collections.abc import Collection

    from partner_api.models.catalog import CatalogEntry
    from shelfsync.flow.house import Parts

FRESH_S = 900.0
"""As long as a change of the catalog may take to reach the platform's app."""
_PAGE_SIZE = 500
_PAGES_MAX = 40
"""More products than any store has: a short SKU is part of many names, and may stand on a late page of what is found."""


def products(parts: Parts, vendor: str, skus: Collection[str]) -> dict[str, Product]:
    """Those that the catalog has, active or not. One request a SKU that was not asked for lately; PartnerError when there is no answer."""
    with parts.engine.connect() as connection:
        rows = order_products.recent(connection, vendor, skus, within_s=FRESH_S)
    found = {row.sku: Product(row.sku, row.price, row.by_weight, row.name) for row in rows if row.known}
    asked = sorted(set(skus) - {row.sku for row in rows})
    unknown = rejected.unknown_now(parts, vendor) if asked else {}
    for sku in asked:
        entry = _listed(parts, vendor, sku)
        values = {
            "known": entry is not None,
            "price": entry.price if entry else None,
            "by_weight": entry.is_sold_by_weight if entry else None,
            "name": entry.title if entry else None,
        }
        with parts.engine.begin() as connection:
            order_products.keep(connection, vendor, sku, values)
        if entry is not None:
            rejected.release_listed(parts, vendor, unknown, [sku])
            found[sku] = Product(sku, entry.price, entry.is_sold_by_weight, entry.title)
    return found


def _listed(parts: Parts, vendor: str, sku: str) -> CatalogEntry | None:
    """The search is for names too."""
    client = parts.open_platform()
    for number in range(1, _PAGES_MAX + 1):
        page = client.list_catalog(vendor, number, _PAGE_SIZE, query_term=sku, lane="order")
        for entry in page.products:
            if entry.sku == sku:
                return entry
        if not page.products or (page.total_pages is not None and number >= page.total_pages):
            return None
    return None
