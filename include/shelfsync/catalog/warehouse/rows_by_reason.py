"""Rows that a person works through: what the platform rejects, and what cannot be sent of the ERP; by reason, filtered, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.catalog.warehouse.quarantine import LAST_READING
from shelfsync.store import keyset_list
from shelfsync.store.keyset_list import KeysetList, Order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

_OF_SKUS = {"sku", "category"}
"""Filters of single SKUs, which no count has."""
_FILTERS = {"vendor": "vendor = :vendor", "reason": "reason = :reason", "sku": "starts_with(sku, :sku)"}

REJECTED = KeysetList(
    "warehouse.rejection",
    (
        *("vendor", "sku", "reason", "kind", "barcode", "price", "quantity", "active", "max_sales_quantity"),
        *("value_at_stake", "times", "first_at", "last_at", "next_try_at", "released_by", "what_to_do"),
    ),
    {
        **_FILTERS,
        "kind": "kind = :kind",
        "category": "sku IN (SELECT jsonb_array_elements_text(CAST(:category AS jsonb)))",
    },
    {
        "SKU": Order((("vendor", "text"), ("sku", "text"))),
        "last": Order((("last_at", "timestamptz"), ("vendor", "text"), ("sku", "text")), newest_first=True),
        "times": Order((("times", "bigint"), ("vendor", "text"), ("sku", "text")), newest_first=True),
    },
)
"""SKUs that the platform rejects now. The ledger knows no category: its filter is the SKUs of the category, as JSON."""

REJECTED_COUNTED = KeysetList(
    "warehouse.rejection_count",
    ("vendor", "reason", "kind", "skus", "value_at_stake", "first_at", "what_to_do"),
    {name: condition for name, condition in REJECTED.filters.items() if name not in _OF_SKUS},
    {},
)
"""The same, counted."""

_ROW = (("vendor", "text"), ("row_number", "bigint"), ("field", "text"))
_LAST = f"""
(SELECT vendor, coalesce(sku, '') AS sku, reason, row_number, field, row_sent, message, raw
FROM warehouse.quarantine JOIN ({LAST_READING}) AS last USING (vendor, run_id)) AS quarantined
"""  # noqa: S608  of constants

QUARANTINED = KeysetList(
    _LAST,
    ("vendor", "sku", "reason", "row_number", "field", "row_sent", "message", "raw"),
    _FILTERS,
    {
        "row": Order(_ROW),
        "SKU": Order((("sku", "text"), *_ROW)),
        "reason": Order((("reason", "text"), *_ROW)),
    },
)
"""Rows and values of the ERP that cannot be sent, of the last reading of each vendor. A row without a SKU has an empty one."""

QUARANTINED_COUNTED = KeysetList(
    f"""
(SELECT last.vendor, counted.* FROM ({LAST_READING}) AS last CROSS JOIN LATERAL (
    SELECT reason, count(*) AS rows, min(message) AS message FROM warehouse.quarantine AS q
    WHERE q.vendor = last.vendor AND q.run_id = last.run_id GROUP BY reason
) AS counted) AS quarantined
""",  # noqa: S608  of constants
    ("vendor", "reason", "rows", "message"),
    {name: condition for name, condition in QUARANTINED.filters.items() if name not in _OF_SKUS},
    {},
)
"""The same, counted store by store: a count of the rows of all stores at once sorts them."""

_REJECTED = {"since": "min(first_at)", "value_at_stake": "sum(value_at_stake)", "about": "min(what_to_do)"}
_QUARANTINED = {"about": "min(message)"}


def groups(connection: Connection, of: KeysetList, asked: Mapping[str, str], *, most: int) -> list[dict[str, Any]]:
    """`{"reason", "rows", "stores", "about"}`, the most frequent first; of rejections `since` and `value_at_stake`, too.

    The reason of `asked` is left out of account.
    """
    also = {"stores": "count(DISTINCT vendor)", **(_REJECTED if of is REJECTED else _QUARANTINED)}
    if any(asked.get(name) for name in _OF_SKUS):
        return keyset_list.groups(connection, of, asked, "reason", also=also, most=most)
    counted, rows = (REJECTED_COUNTED, "sum(skus)") if of is REJECTED else (QUARANTINED_COUNTED, "sum(rows)")
    return keyset_list.groups(connection, counted, asked, "reason", rows=rows, also=also, most=most)
