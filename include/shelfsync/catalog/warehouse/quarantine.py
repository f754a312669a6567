"""Rows of the ERP that cannot be sent: counted by vendor and reason, each with examples, as the last reading of each vendor found them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy.engine import Connection

_ROWS = """
WITH last AS (
    SELECT vr.vendor, max(vr.run_id) AS run_id FROM ledger.vendor_run AS vr
    WHERE vr.extract_id IS NOT NULL GROUP BY vr.vendor
    UNION ALL
    SELECT '', max(extract.run_id) FROM ledger.extract JOIN ledger.run USING (run_id) WHERE run.vendors = '{}'
), numbered AS (
    SELECT q.*, count(*) OVER of_reason AS rows, row_number() OVER (of_reason ORDER BY q.row_number) AS number
    FROM warehouse.quarantine AS q JOIN last USING (vendor, run_id)
    WHERE (CAST(:vendor AS text) IS NULL OR q.vendor = :vendor) AND (CAST(:reason AS text) IS NULL OR q.reason = :reason)
    WINDOW of_reason AS (PARTITION BY q.vendor, q.reason)
)
SELECT vendor, reason, rows, run_id, row_number, sku, message, raw FROM numbered WHERE number <= :examples
ORDER BY vendor, rows DESC, reason, row_number
"""


def groups(
    connection: Connection, *, vendor: str | None = None, reason: str | None = None, examples: int = 1
) -> list[dict[str, Any]]:
    """`{"vendor", "reason", "rows", "run_id", "examples": [{"row_number", "sku", "message", "raw"}]}`; vendor '': rows that name none."""
    given = {"vendor": vendor, "reason": reason, "examples": examples}
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in connection.execute(sa.text(_ROWS), given).mappings():
        group = {name: row[name] for name in ("vendor", "reason", "rows", "run_id")}
        at = found.setdefault((row["vendor"], row["reason"]), {**group, "examples": []})
        at["examples"].append({name: row[name] for name in ("row_number", "sku", "message", "raw")})
    return list(found.values())


def lines(found: Iterable[dict[str, Any]]) -> Iterator[str]:
    """For a person: a line for each group, and one for each of its examples."""
    for group in found:
        name = f"vendor {group['vendor']}" if group["vendor"] else "no usable vendor"
        yield f"{name}: {group['rows']:,} rows, {group['reason']} (run {group['run_id']})"
        for one in group["examples"]:
            sku = "no SKU" if one["sku"] is None else f"SKU {one['sku']}"
            yield f"    row {one['row_number']:,}, {sku}: {one['message']}: {one['raw']}"
