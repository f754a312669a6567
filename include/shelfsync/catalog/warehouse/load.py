"""Bulk loads of the catalog: merged by key, always inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.catalog.warehouse import tables
from shelfsync.catalog.warehouse.baseline_history import append
from shelfsync.store import partitions
from shelfsync.store.bulk import copy_into
from shelfsync.store.instant import instant

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection


def replace_quarantine(connection: Connection, run_id: int, vendor: str | None, rows: pa.Table) -> None:
    """The quarantined rows of one vendor of one run (None: rows that name no vendor), in place of the earlier ones."""
    import pyarrow as pa

    table = tables.quarantine
    same_vendor = table.c.vendor == (vendor or "")
    connection.execute(table.delete().where(table.c.run_id == run_id, same_vendor))
    if rows.num_rows:
        count = rows.num_rows
        stamped = rows.drop_columns(["vendor"]) if "vendor" in rows.column_names else rows
        stamped = stamped.append_column("run_id", pa.repeat(pa.scalar(run_id, pa.int64()), count))
        stamped = stamped.append_column("vendor", pa.repeat(pa.scalar(vendor or ""), count))
        copy_into(connection, "warehouse.quarantine", stamped)


def load_outcomes(connection: Connection, job_id: int, vendor: str, rows: pa.Table) -> None:
    """One row a SKU of one job: sku, state, reason, change and the values sent. A second load of the same job changes nothing."""
    import pyarrow as pa

    connection.execute(tables.sku_outcome.delete().where(tables.sku_outcome.c.job_id == job_id))
    if rows.num_rows == 0:
        return
    known_at = connection.execute(sa.select(instant())).scalar_one()
    partitions.ensure(connection, "sku_outcome", known_at)
    for name, scalar in (
        ("job_id", pa.scalar(job_id, pa.int64())),
        ("vendor", pa.scalar(vendor)),
        ("known_at", pa.scalar(known_at, pa.timestamp("us", tz="UTC"))),
    ):
        rows = rows.append_column(name, pa.repeat(scalar, rows.num_rows))
    copy_into(connection, "warehouse.sku_outcome", rows)


_MERGE_BASELINE = """
MERGE INTO warehouse.baseline AS held
USING incoming_baseline AS moved ON held.vendor = :vendor AND held.sku = moved.sku
WHEN MATCHED THEN UPDATE SET
    price = moved.price, quantity = moved.quantity, active = moved.active,
    max_sales_quantity = moved.max_sales_quantity, job_id = :job_id, acknowledged_at = :at
WHEN NOT MATCHED THEN INSERT (vendor, sku, price, quantity, active, max_sales_quantity, job_id, acknowledged_at)
    VALUES (:vendor, moved.sku, moved.price, moved.quantity, moved.active, moved.max_sales_quantity, :job_id, :at)
"""


def move_baseline(connection: Connection, job_id: int, vendor: str, rows: pa.Table) -> None:
    """The acknowledged state of the SKUs that one job moved: sku and the four values, whole."""
    connection.execute(
        sa.text(
            "CREATE TEMPORARY TABLE incoming_baseline"
            " (sku text, price numeric(20, 3), quantity bigint, active boolean, max_sales_quantity bigint) ON COMMIT DROP"
        )
    )
    wanted = ["sku", "price", "quantity", "active", "max_sales_quantity"]
    copy_into(connection, "incoming_baseline", rows.select(wanted))
    append(connection, vendor, "incoming_baseline", job_id=job_id)
    at = connection.execute(sa.select(instant())).scalar_one()
    connection.execute(sa.text(_MERGE_BASELINE), {"vendor": vendor, "job_id": job_id, "at": at})
