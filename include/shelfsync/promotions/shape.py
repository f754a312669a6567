"""The shapes that go from step to step of the promotions' path: one Arrow schema a stage (as `columns` for the catalog)."""

from __future__ import annotations

import pyarrow as pa

from shelfsync.columns import PRICE

HEAD = (
    "campaign",
    "name",
    "reason",
    "start_time",
    "end_time",
    "type",
    "purchased_quantity",
    "discounted_quantity",
    "max_discount_per_order",
    "max_items_per_order",
    "overlap",
)
"""What all SKUs of a promotion share; repeated on each row of the ERP's table."""

LINE = ("sku", "price", "discount_type", "max_quantity", "base_price", "cost")
"""What is said of one SKU."""

RAW = pa.schema(
    [
        pa.field("row_number", pa.int64(), nullable=False),  # position in the extract, from 1
        pa.field("vendor", pa.string()),  # `*` or blank: all vendors
        *(pa.field(name, pa.string()) for name in (*HEAD, *LINE)),
    ]
)
"""Rows as the ERP gave them, each value in its exact text."""

REQUIRED = ("campaign", "sku", "price", "name", "start_time", "end_time")

EVERY = "*"
"""The vendor of a row that means all of them."""

ENTRY = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("subtype", pa.string(), nullable=False),  # FINAL_PRICE | PERCENTAGE | ABSOLUTE
        pa.field("value", PRICE, nullable=False),
        pa.field("max_quantity", pa.int64()),
    ]
)
"""What a promotion should hold: unique by sku, sorted by sku in byte order."""

ROWS = pa.schema(
    [
        pa.field("row_number", pa.int64(), nullable=False),
        pa.field("head", pa.int32(), nullable=False),  # number of the head in `Heads`
        *ENTRY,
        pa.field("base_price", PRICE),  # the lowest base price of the window that the ERP knows
        pa.field("cost", PRICE),
    ]
)
"""Canonical rows of one vendor, in the order of the extract."""

KEPT = pa.schema([pa.field("head", pa.int32(), nullable=False), pa.field("sku", pa.string(), nullable=False)])
"""SKUs of which it is not known what is wanted (quarantined or held): what the platform was told stays."""

TOLD = pa.schema([*ENTRY, pa.field("known", pa.bool_(), nullable=False)])
"""What the platform holds of a promotion, as far as it said so; `known` false: it may hold this, another value, or nothing (I7)."""

ITEM = pa.schema([*ENTRY, pa.field("active", pa.bool_(), nullable=False)])
"""What a request says: active false takes the SKU out. Sorted by active, subtype, value, max_quantity, sku: the order of its entries."""

FACTS = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("price", PRICE),  # the lower of what the platform has and what it is about to get
        pa.field("active", pa.bool_()),
        pa.field("cost", PRICE),  # what the catalog says that it costs
    ]
)
"""What is known of a vendor's assortment, unique by sku."""

REFUSED = pa.schema(
    [
        pa.field("vendor", pa.string(), nullable=False),
        pa.field("sku", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""Pairs the platform did not take, each once."""
