"""Products by the beginning of their SKU or barcode, over all stores: each once, by index, whatever the number of stores and products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.store.keyset_list import KeysetList, Order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy.engine import Connection

LAST = "\U0010ffff"
"""The greatest character: no text that begins with a prefix comes behind the prefix and this."""

# Each step asks the index for the next value, so that a thousand stores with one SKU cost one look.
_NEXT = """
WITH RECURSIVE found (value) AS (
    (SELECT {column} FROM warehouse.product WHERE {column} ~>=~ :prefix AND {column} ~<~ :past ORDER BY {column} USING ~<~ LIMIT 1)
    UNION ALL
    SELECT (SELECT one.{column} FROM warehouse.product AS one
        WHERE one.{column} ~>~ found.value AND one.{column} ~<~ :past ORDER BY one.{column} USING ~<~ LIMIT 1)
    FROM found WHERE found.value IS NOT NULL
)
SELECT value FROM found WHERE value IS NOT NULL LIMIT :most
"""
_OF_BARCODES = """
SELECT DISTINCT of_barcode.sku FROM unnest(CAST(:barcodes AS text[])) AS asked (barcode)
CROSS JOIN LATERAL (
    SELECT sku FROM warehouse.product WHERE product.barcode = asked.barcode ORDER BY sku LIMIT 1
) AS of_barcode
"""
_STORES = """
SELECT asked.sku, seen.* FROM unnest(CAST(:skus AS text[])) AS asked (sku)
CROSS JOIN LATERAL (
    SELECT count(*) AS stores, min(of_stores.vendor) AS vendor, min(of_stores.barcode) AS barcode FROM (
        SELECT vendor, barcode FROM warehouse.product JOIN ledger.vendor AS v USING (vendor)
        WHERE product.sku = asked.sku AND v.forgotten IS NULL ORDER BY vendor LIMIT :stores
    ) AS of_stores
) AS seen
"""
STORES_MAX = 100
"""Stores of a product that are counted."""

STORES_OF_PRODUCT = KeysetList(
    "(SELECT p.* FROM warehouse.product AS p JOIN ledger.vendor AS v USING (vendor) WHERE v.forgotten IS NULL) AS known",
    ("vendor", "sku", "barcode", "in_erp", "on_platform", "active_wanted", "active_shown", "seen_at"),
    {"sku": "sku = :sku"},
    {"store": Order((("vendor", "text"),))},
)
"""Every store of the chain that has or had a product."""


def skus_beginning(connection: Connection, prefix: str, *, most: int) -> list[str]:
    """The SKUs of all stores that begin like this, each once, in byte order."""
    return _beginning(connection, "sku", prefix, most)


def skus_of_barcodes(connection: Connection, prefix: str, *, most: int) -> list[str]:
    """A SKU of each barcode that begins like this."""
    barcodes = _beginning(connection, "barcode", prefix, most)
    return list(connection.execute(sa.text(_OF_BARCODES), {"barcodes": barcodes}).scalars()) if barcodes else []


def stores_of(connection: Connection, skus: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Of each of these SKUs: `stores` (up to STORES_MAX), the first `vendor`, and a `barcode`; 0, None and None if no export was read with it."""
    given = {"skus": list(skus), "stores": STORES_MAX}
    return {row["sku"]: dict(row) for row in connection.execute(sa.text(_STORES), given).mappings()}


def _beginning(connection: Connection, column: str, prefix: str, most: int) -> list[str]:
    given = {"prefix": prefix, "past": prefix + LAST, "most": most}
    return list(connection.execute(sa.text(_NEXT.format(column=column)), given).scalars())
