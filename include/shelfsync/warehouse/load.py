"""Bulk loads: Arrow to PostgreSQL by COPY, merged by key, always inside the caller's transaction."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.ledger.instant import instant
from shelfsync.warehouse import partitions, tables

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlalchemy.engine import Connection

_COPY_BYTES = 1 << 20


def copy_into(connection: Connection, table: str, rows: pa.Table) -> int:
    """COPY of all columns of `rows` into the columns of the same names; a null stays a null, an empty text an empty text."""
    from pyarrow import csv

    sink = io.BytesIO()
    if rows.num_rows == 0:
        return 0
    rows = _times_as_text(
        rows
    ).combine_chunks()  # a chunk without a row makes pyarrow write what its buffer happens to hold
    csv.write_csv(rows, sink, csv.WriteOptions(include_header=False))
    columns = ", ".join(f'"{name}"' for name in rows.column_names)
    cursor = connection.connection.cursor()
    view = sink.getbuffer()
    with cursor.copy(f"COPY {table} ({columns}) FROM STDIN (FORMAT csv)") as copy:
        for start in range(0, len(view), _COPY_BYTES):
            copy.write(view[start : start + _COPY_BYTES])
    cursor.close()
    return int(rows.num_rows)


def _times_as_text(rows: pa.Table) -> pa.Table:
    """Each distinct time written once: pyarrow asks the time zone for every row, which costs more than all other columns together."""
    import pyarrow as pa

    for place, field in enumerate(rows.schema):
        if pa.types.is_timestamp(field.type):
            known = rows[field.name].combine_chunks().dictionary_encode()
            texts = known.dictionary.cast(pa.string()).take(known.indices)
            rows = rows.set_column(place, field.name, texts)
    return rows


def replace_quarantine(connection: Connection, run_id: int, vendor: str | None, rows: pa.Table) -> None:
    """The quarantined rows of one vendor of one run (None: rows that name no vendor), in place of what stood there."""
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
    settled = connection.execute(sa.select(instant())).scalar_one()
    partitions.ensure(connection, "sku_outcome", settled)
    for name, scalar in (
        ("job_id", pa.scalar(job_id, pa.int64())),
        ("vendor", pa.scalar(vendor)),
        ("settled_at", pa.scalar(settled, pa.timestamp("us", tz="UTC"))),
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
    from shelfsync.warehouse.history import append

    append(connection, vendor, "incoming_baseline", job_id=job_id)
    at = connection.execute(sa.select(instant())).scalar_one()
    connection.execute(sa.text(_MERGE_BASELINE), {"vendor": vendor, "job_id": job_id, "at": at})
