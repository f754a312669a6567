"""What the delivery platform knows of the sample chain before the first sync, in the form in which the sandbox takes an assortment."""

from __future__ import annotations

import zlib
from decimal import ROUND_DOWN, Decimal
from typing import Any

import sqlalchemy as sa

from shelfsync.erp.sample import tables


def assortment(engine: sa.Engine, *, unknown_share: float = 0.01) -> dict[str, list[dict[str, Any]]]:
    """Vendor -> its products {sku, barcodes, title, price, active, max_sales_quantity, sales_buffer, categories, is_sold_by_weight}.

    The platform was filled from the list prices some time ago, so the first sync has something to say. It never heard of about
    `unknown_share` of each vendor's SKUs, always the same ones: those will be refused. Prices are text, cut to three decimals.
    """
    codes = sa.func.array_remove(
        sa.func.array_agg(sa.text("barcode.code ORDER BY barcode.is_main DESC, barcode.code")), sa.null()
    )
    statement = (
        sa.select(tables.store.c.code.label("vendor"), tables.product, codes.label("barcodes"))
        .select_from(
            tables.listing.join(tables.store)
            .join(tables.product)
            .outerjoin(tables.barcode, tables.barcode.c.product_id == tables.product.c.product_id)
        )
        .group_by(tables.store.c.code, tables.product.c.product_id)
        .order_by(tables.store.c.code, tables.product.c.item_code)
    )
    known: dict[str, list[dict[str, Any]]] = {}
    with engine.connect() as connection:
        for row in connection.execute(statement):
            products = known.setdefault(row.vendor, [])
            if _share(f"unknown {row.vendor} {row.item_code}") >= unknown_share:
                products.append(_product(row))
    return known


def _product(row: Any) -> dict[str, Any]:
    return {
        "sku": row.item_code,
        "barcodes": row.barcodes,
        "title": row.name,
        "price": str(row.list_price.quantize(Decimal("0.001"), ROUND_DOWN)),
        "active": row.active,
        "max_sales_quantity": row.max_per_order,
        "sales_buffer": 1 + int(_share(f"buffer {row.item_code}") * 3),
        "categories": [row.department],
        "is_sold_by_weight": row.sold_by_weight,
    }


def _share(text: str) -> float:
    """A number from 0 to 1 that is always the same for a text."""
    return zlib.crc32(text.encode()) / 2**32
