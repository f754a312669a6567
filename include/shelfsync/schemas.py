"""The shapes that go from step to step: one Arrow schema a stage.

Keys are text whatever the ERP sent, prices are decimals from end to end (I11), and null means "no value for this field":
a null is never sent and never clears anything.
"""

from __future__ import annotations

import pyarrow as pa

from shelfsync import arrow_setup

PRICE = pa.decimal128(20, 3)
"""The platform keeps three decimals and cuts the rest (interface.md 2.1), and so does shelfsync."""

FIELDS = ("price", "quantity", "active", "max_sales_quantity")
"""What can be changed on the platform, in the order in which an item names it."""

UNSENT = ("category", "cost", "sales_buffer")
"""Optional columns of the ERP that rules read. They are never sent and never compared."""

RAW = pa.schema(
    [
        pa.field("row_number", pa.int64(), nullable=False),  # position in the extract, from 1
        pa.field("vendor", pa.string()),
        pa.field("sku", pa.string()),
        pa.field("barcode", pa.string()),
        pa.field("price", pa.string()),
        pa.field("quantity", pa.string()),
        pa.field("active", pa.string()),
        pa.field("max_sales_quantity", pa.string()),
        *(pa.field(name, pa.string()) for name in UNSENT),
        pa.field("name", pa.string()),  # for people alone: never sent, never compared, in no snapshot
    ]
)
"""Rows as the ERP gave them, each value in its exact text; one file a vendor, in the order of the extract."""

CHANGED = pa.schema([*RAW, pa.field("changed_at", pa.string()), pa.field("stamp", pa.string())])
"""Changed rows: those of RAW; when the ERP changed each, in ISO 8601 (only a time with a zone is used, and only for figures); and the value of
the cursor's column, which distinguishes two changes to the same values."""

NAMES = pa.schema([pa.field("sku", pa.string(), nullable=False), pa.field("name", pa.string(), nullable=False)])
"""What the ERP calls the products of one vendor, sorted by sku in byte order."""

_VALUES = [
    pa.field("price", PRICE),
    pa.field("quantity", pa.int64()),
    pa.field("active", pa.bool_()),
    pa.field("max_sales_quantity", pa.int64()),
]

_BUFFER = pa.field("sales_buffer", pa.int64())

BASELINE = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("barcode", pa.string()),
        *_VALUES,
        _BUFFER,  # the buffer in force when the quantity was sent; null: unknown
        pa.field("left", pa.bool_()),  # true: it was switched off because it left the ERP, not by a value of the ERP
    ]
)
"""The last acknowledged state of one vendor: unique by sku, sorted by sku in byte order."""

SNAPSHOT = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("barcode", pa.string()),
        *_VALUES,
        pa.field("category", pa.string()),
        pa.field("cost", PRICE),
        _BUFFER,  # the platform's buffer, as the ERP knows it
    ]
)
"""Canonical rows of one vendor at one instant: the baseline's columns but `left` in its order, so that a diff is a walk along both, and UNSENT."""

OBSERVED = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("barcode", pa.string()),  # as the platform gives it, without the zeros it pads with; null: none
        pa.field("price", PRICE),
        pa.field("active", pa.bool_()),
        pa.field("max_sales_quantity", pa.int64()),
    ]
)
"""What the platform showed of one vendor, in an export or a listing: unique by sku, sorted by sku in byte order. It shows no quantity."""

SHOWN = ("price", "active", "max_sales_quantity")
"""The fields that can be both sent and observed."""

SENDING = pa.schema(
    [
        pa.field("job", pa.int64(), nullable=False),  # grows with time
        pa.field("sku", pa.string(), nullable=False),
        *_VALUES,  # what was sent, null: not sent
        pa.field("state", pa.string(), nullable=False),  # accepted | rejected | unaccounted
        pa.field("late", pa.bool_(), nullable=False),  # the export in question cannot show it yet
    ]
)
"""What was sent of some SKUs, oldest first, and the platform's outcome."""

DRIFT = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("field", pa.string(), nullable=False),  # one of SHOWN, or sku: the SKU itself is not shown
        pa.field("cause", pa.string(), nullable=False),
        pa.field("desired", pa.string()),  # values as plain text; null: not given or unknown
        pa.field("acknowledged", pa.string()),
        pa.field("observed", pa.string()),
        pa.field("message", pa.string(), nullable=False),  # one sentence for a person
    ]
)
"""Where the platform shows something else than is wanted or was acknowledged, each value with its cause. Sorted by sku and field."""

ABSENT = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("since", pa.timestamp("us", "UTC"), nullable=False),  # the first extract without it was read then
    ]
)

QUARANTINE = pa.schema(
    [
        pa.field("row_number", pa.int64(), nullable=False),
        pa.field("vendor", pa.string()),
        pa.field("sku", pa.string()),  # as it would have been sent, or what it resembles; null if it cannot be a key
        pa.field("field", pa.string(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),  # a word in snake case, stable
        pa.field("message", pa.string(), nullable=False),  # one sentence for a person, with the value in it
        pa.field("raw", pa.string(), nullable=False),  # the whole row as JSON text, as it came
        pa.field(
            "row_sent", pa.bool_(), nullable=False
        ),  # true: this value alone is left out, and the rest of the row is sent
    ]
)
"""What cannot be sent, with its reason: a row, or one value of a row. Rows in = rows of the snapshot + rows here that are not `row_sent` +
rows that repeat another one."""

DELTA = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("barcode", pa.string()),
        *_VALUES,
        pa.field("change", pa.string(), nullable=False),  # new | changed | removed | same (same: only in a full sync)
        _BUFFER,  # beside a quantity: the buffer it is going to be compared with, as far as it is known; not sent
    ]
)
"""What must be sent: a null field is absent from the item. Sorted by sku. A removed SKU carries active=false."""

HELD = pa.schema(
    [
        *DELTA,
        pa.field("reason", pa.string(), nullable=False),  # the guard's name, a stable word in snake case
        pa.field("message", pa.string(), nullable=False),  # one sentence for the person who decides
    ]
)
"""The held part of a delta, sorted by sku. A SKU has one row per hold, with only the fields that this hold keeps back."""

LOG = pa.schema(
    [
        pa.field("sku", pa.string()),  # the log's column `sku`; null: the line cannot be read
        pa.field("barcode", pa.string()),  # its column `piece_barcode` or `barcode`
        pa.field("state", pa.string(), nullable=False),  # accepted | rejected | unaccounted
        pa.field("reason", pa.string()),  # the platform's message, null when accepted
        pa.field("raw", pa.string(), nullable=False),  # the line as JSON text with every column it had
    ]
)
"""The lines of a job's log in their order, or the feedback of its status; not yet matched with what was sent."""

OUTCOME = pa.schema(
    [
        pa.field("sku", pa.string(), nullable=False),
        pa.field("state", pa.string(), nullable=False),  # accepted | rejected | unaccounted
        pa.field("reason", pa.string()),  # the platform's message, null when accepted
        pa.field("raw", pa.string()),  # the log's line as JSON text with every column it had, null without a line
    ]
)
"""What became of each SKU of one job: exactly one row for every SKU that was sent (I1)."""


def completed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with columns of nulls where it was written before a column of the schema existed."""
    for place, field in enumerate(schema):
        if field.name not in table.column_names:
            table = table.add_column(min(place, table.num_columns), field, pa.nulls(table.num_rows, field.type))
    return table


arrow_setup.without_pandas()  # here, because every step that touches a table imports this first
