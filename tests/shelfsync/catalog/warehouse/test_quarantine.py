"""The quarantined rows of each vendor and run."""

from __future__ import annotations

import pyarrow as pa
import sqlalchemy as sa

from shelfsync.catalog.warehouse import quarantine, tables
from shelfsync.schemas import QUARANTINE


def test_quarantined_rows_are_replaced_vendor_by_vendor(engine, job):
    run_id, _ = job

    def put(vendor, numbers):
        rows = [
            {
                "row_number": number,
                "vendor": vendor,
                "sku": None,
                "field": "sku",
                "reason": "sku_missing",
                "message": "no sku",
                "raw": "{}",
                "row_sent": False,
            }
            for number in numbers
        ]
        with engine.begin() as connection:
            quarantine.replace(connection, run_id, vendor, pa.Table.from_pylist(rows, schema=QUARANTINE))

    put("store-001", [1, 2])
    put("store-002", [3])
    put(None, [9])
    put("store-001", [2])
    with engine.connect() as connection:
        kept = connection.execute(
            sa.select(tables.quarantine.c.vendor, tables.quarantine.c.row_number).order_by("row_number")
        )
        assert kept.all() == [("store-001", 2), ("store-002", 3), ("", 9)]
