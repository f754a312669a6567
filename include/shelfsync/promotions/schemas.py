"""The Arrow schemas that pass between the steps of the promotions' path."""

from __future__ import annotations

import pyarrow as pa

from shelfsync.schemas import PRICE
from shelfsync.schemas import QUARANTINE as QUARANTINE_OF_CATALOG

HEAD = (
    "campaign",
    "name",
    "reason",
    "start_time",
    "end_time",
    "type",
    "purchased_quantity",
    "discounted_quantity",
    "pieces",
    "max_discount_per_order",
    "max_items_per_order",
    "overlap",
)
"""The columns that all SKUs of a promotion share; each row of the ERP's table repeats them."""

LINE = ("sku", "price", "discount_type", "max_quantity", "base_price", "cost", "audience", "condition")
"""The columns of one SKU."""

RAW = pa.schema(
    [
        pa.field("row_number", pa.int64(), nullable=False),  # position in the extract, from 1
        pa.field("vendor", pa.string()),  # `*` or blank: all vendors
        *(pa.field(name, pa.string()) for name in (*HEAD, *LINE)),
    ]
)
"""Rows as the ERP gave them, each value in its exact text."""

QUARANTINE = pa.schema([field for field in QUARANTINE_OF_CATALOG if field.name != "row_sent"])
"""Rows that cannot be sent, each with its reason: of a campaign no value is left out."""

REQUIRED = ("campaign", "sku", "price", "name", "start_time", "end_time")

ENTRY = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("subtype", pa.string(), nullable=False),  # FINAL_PRICE | PERCENTAGE | ABSOLUTE
        pa.field("value", PRICE, nullable=False),
        pa.field("max_quantity", pa.int64()),
    ]
)
"""The wanted entries of a promotion: unique by sku, sorted by sku in byte order."""

ROWS = pa.schema(
    [
        pa.field("row_number", pa.int64(), nullable=False),
        pa.field("head", pa.int32(), nullable=False),  # number of the head in `Heads`
        *ENTRY,
        pa.field("base_price", PRICE),  # the lowest base price of the window that the ERP knows
        pa.field("cost", PRICE),
    ]
)
"""Canonical rows of one vendor, in the order of the extract. The subtype TOTAL_PRICE is of the head's `pieces` together (`validate`)."""

KEPT = pa.schema([pa.field("head", pa.int32(), nullable=False), pa.field("sku", pa.string(), nullable=False)])
"""SKUs by head. As `kept`: SKUs whose wanted value is unknown (quarantined or held): the platform keeps what it acknowledged."""

HELD = pa.schema(
    [
        pa.field(
            "key", pa.string(), nullable=False
        ),  # what an approval is for: the SKU, its exact discount, and its times
        pa.field("sku", pa.string(), nullable=False),
        pa.field("discount", pa.string(), nullable=False),
        pa.field("window", pa.string(), nullable=False),  # its times and, of a bundle, its quantities
        pa.field("price_before", PRICE),  # the base price
        pa.field("price", PRICE),  # what a piece costs in the promotion; of a bundle the average
        pa.field("move", pa.float64()),  # price divided by base price
        pa.field("share", pa.float64()),  # what the rule compares with its threshold; null: it has none
    ]
)
"""The rows of a hold. Of ends, a row is a promotion, and `sku` is its campaign."""

ACKNOWLEDGED = pa.schema([*ENTRY, pa.field("known", pa.bool_(), nullable=False)])
"""The entries of a promotion that the platform acknowledged; `known` false: it may have this, another value, or nothing (I7).

A file of them may be one of ENTRY: then all of them are known."""

ITEM = pa.schema([*ENTRY, pa.field("active", pa.bool_(), nullable=False)])
"""The entries of a request: active false removes the SKU. Sorted by active, subtype, value, max_quantity, sku: the order of its entries."""

ASSORTMENT = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("price", PRICE),  # the lower of what the platform has and what it is about to get
        pa.field("price_max", PRICE),  # the higher of the two
        pa.field("active", pa.bool_()),
        pa.field("cost", PRICE),  # the catalog's cost
    ]
)
"""A vendor's known assortment, unique by sku."""

ASKED = pa.schema([ASSORTMENT.field(name) for name in ("sku", "price", "cost")])
"""What the ERP asks of a vendor's catalog, unique by sku; the price of a quarantined row is null."""

REJECTED = pa.schema(
    [
        pa.field("vendor", pa.string(), nullable=False),
        pa.field("sku", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""Pairs of vendor and SKU that the platform rejected, each once."""
