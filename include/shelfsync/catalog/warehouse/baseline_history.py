"""Moves and corrects `warehouse.baseline`, and keeps every acknowledged value: one row for each SKU and each change that changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.store import monthly_partitions
from shelfsync.store.bulk import copy_into
from shelfsync.store.metadata import boolean, metadata, moment, number, text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from decimal import Decimal

    import pyarrow as pa
    from sqlalchemy.engine import Connection

baseline_history = sa.Table(
    "baseline_history",
    metadata,
    text("vendor", "The vendor", primary_key=True),
    text("sku", "The SKU", primary_key=True),
    number(
        "version", "First version of the vendor's baseline with these values", primary_key=True, autoincrement=False
    ),
    moment("valid_from", "When the baseline changed; valid until the next row of this SKU", primary_key=True),
    sa.Column("price", sa.Numeric(20, 3), comment="Price acknowledged; null: unknown"),
    number("quantity", "Quantity acknowledged; null: unknown"),
    boolean("active", "Availability acknowledged; null: unknown"),
    number("max_sales_quantity", "Sales limit acknowledged; null: unknown"),
    number("job_id", "The job whose log changed it; null: an observation did"),
    number("observation_id", "The observation that confirmed it or made it unknown; null: a job changed it"),
    schema="warehouse",
    comment="What was acknowledged of each SKU and from when on: one row a change, by job or by observation",
    postgresql_partition_by="RANGE (valid_from)",
)

_VALUES = ("price", "quantity", "active", "max_sales_quantity")
_BESIDE = {"barcode": "barcode", "sales_buffer": "sales_buffer", "left": "left_erp"}
"""Columns of a baseline that are no values, and what the warehouse calls them."""
_TEMP = """
CREATE TEMPORARY TABLE moved_row
(sku text, price numeric(20, 3), quantity bigint, active boolean, max_sales_quantity bigint,
    barcode text, sales_buffer bigint, left_erp boolean) ON COMMIT DROP
"""
_VALUES_MOVED = """(held.price, held.quantity, held.active, held.max_sales_quantity)
    IS DISTINCT FROM (moved.price, moved.quantity, moved.active, moved.max_sales_quantity)"""
_APPEND = f"""
INSERT INTO warehouse.baseline_history
    (vendor, sku, version, valid_from, price, quantity, active, max_sales_quantity, job_id, observation_id)
SELECT :vendor, moved.sku,
    (SELECT baseline_version FROM ledger.vendor WHERE vendor = :vendor), :at,
    moved.price, moved.quantity, moved.active, moved.max_sales_quantity, :job_id, :observation_id
FROM moved_row AS moved LEFT JOIN warehouse.baseline AS held ON held.vendor = :vendor AND held.sku = moved.sku
WHERE held.sku IS NULL OR {_VALUES_MOVED}
"""  # noqa: S608  constants of ours
_MOVED = """(held.price, held.quantity, held.active, held.max_sales_quantity, held.barcode, held.sales_buffer, held.left_erp)
    IS DISTINCT FROM
    (moved.price, moved.quantity, moved.active, moved.max_sales_quantity, moved.barcode, moved.sales_buffer, moved.left_erp)"""
_MERGE_BASELINE = f"""
MERGE INTO warehouse.baseline AS held
USING moved_row AS moved ON held.vendor = :vendor AND held.sku = moved.sku
WHEN MATCHED AND {_MOVED} THEN UPDATE SET
    price = moved.price, quantity = moved.quantity, active = moved.active,
    max_sales_quantity = moved.max_sales_quantity,
    barcode = moved.barcode, sales_buffer = moved.sales_buffer, left_erp = moved.left_erp,
    job_id = CASE WHEN {_VALUES_MOVED} THEN :job_id ELSE held.job_id END,
    acknowledged_at = CASE WHEN {_VALUES_MOVED} THEN :at ELSE held.acknowledged_at END
WHEN NOT MATCHED THEN
    INSERT (vendor, sku, price, quantity, active, max_sales_quantity, barcode, sales_buffer, left_erp, job_id, acknowledged_at)
    VALUES (:vendor, moved.sku, moved.price, moved.quantity, moved.active, moved.max_sales_quantity,
        moved.barcode, moved.sales_buffer, moved.left_erp, :job_id, :at)
"""  # noqa: S608  constants of ours
_OFF_SALE = sa.text(
    "INSERT INTO moved_row (sku, active)"
    " SELECT sku, false FROM warehouse.baseline WHERE vendor = :vendor AND sku = ANY(CAST(:skus AS text[]))"
)
_LEAVE_BASELINE = sa.text("DELETE FROM warehouse.baseline WHERE vendor = :vendor AND sku = ANY(CAST(:skus AS text[]))")
_CORRECT = """
MERGE INTO warehouse.baseline AS held USING moved_row AS moved ON held.vendor = :vendor AND held.sku = moved.sku
WHEN MATCHED THEN UPDATE SET price = moved.price, quantity = moved.quantity, active = moved.active,
    max_sales_quantity = moved.max_sales_quantity,
    barcode = moved.barcode, sales_buffer = moved.sales_buffer, left_erp = moved.left_erp
"""


def _append(
    connection: Connection, vendor: str, *, job_id: int | None = None, observation_id: int | None = None
) -> dt.datetime:
    """Records what the moved rows change: after the ledger's version moved, before `warehouse.baseline` is updated.

    Returns when that was.
    """
    at = monthly_partitions.ensure_present(connection, "baseline_history")
    values = {"vendor": vendor, "at": at, "job_id": job_id, "observation_id": observation_id}
    types = [sa.bindparam(name, type_=sa.BigInteger) for name in ("job_id", "observation_id")]
    connection.execute(sa.text(_APPEND).bindparams(*types), values)
    return at


def move_baseline(connection: Connection, job_id: int, vendor: str, rows: pa.Table, gone: Sequence[str] = ()) -> None:
    """The acknowledged state of the SKUs that one job changed (BASELINE schema). A row with equal values stays as it is.

    `gone`: SKUs that neither the ERP nor the platform has. They leave the baseline; their history ends off sale.
    """
    if rows.num_rows == 0 and not gone:
        return  # a full sync that repeats all makes no temporary table for each vendor
    _copy_moved(connection, rows)
    if gone:
        connection.execute(_OFF_SALE, {"vendor": vendor, "skus": list(gone)})
    at = _append(connection, vendor, job_id=job_id)
    connection.execute(sa.text(_MERGE_BASELINE), {"vendor": vendor, "job_id": job_id, "at": at})
    if gone:
        connection.execute(_LEAVE_BASELINE, {"vendor": vendor, "skus": list(gone)})


def correct_baseline(connection: Connection, observation_id: int, vendor: str, rows: pa.Table) -> None:
    """What an observation confirmed or made unknown (BASELINE schema). `job_id` keeps the job that moved the SKU last."""
    _copy_moved(connection, rows)
    _append(connection, vendor, observation_id=observation_id)
    _correct(connection, vendor)


def complete(connection: Connection, vendor: str, rows: pa.Table) -> None:
    """Writes what an older version's warehouse did not keep, from the rows in force (BASELINE): barcode, buffer, why it is off sale."""
    _copy_moved(connection, rows)
    _correct(connection, vendor)


def _correct(connection: Connection, vendor: str) -> None:
    connection.execute(sa.text(_CORRECT), {"vendor": vendor})
    connection.execute(sa.text("DROP TABLE moved_row"))


_IN_FORCE = """
SELECT sku, barcode, price, quantity, active, max_sales_quantity, sales_buffer, left_erp AS "left"
FROM warehouse.baseline WHERE vendor = :vendor ORDER BY sku COLLATE "C"
"""
_LAST_KNOWN = """
SELECT sku,
    (array_agg(price ORDER BY version DESC) FILTER (WHERE price IS NOT NULL))[1] AS price,
    (array_agg(quantity ORDER BY version DESC) FILTER (WHERE quantity IS NOT NULL))[1] AS quantity,
    (array_agg(active ORDER BY version DESC) FILTER (WHERE active IS NOT NULL))[1] AS active,
    (array_agg(max_sales_quantity ORDER BY version DESC) FILTER (WHERE max_sales_quantity IS NOT NULL))[1] AS max_sales_quantity
FROM warehouse.baseline_history WHERE vendor = :vendor AND sku = ANY (:skus) GROUP BY sku ORDER BY sku COLLATE "C"
"""


def in_force(connection: Connection, vendor: str) -> pa.Table:
    """What is acknowledged of a vendor now, in BASELINE schema, by sku: the rows of the file of its version."""
    import pyarrow as pa

    from shelfsync.schemas import BASELINE

    rows = connection.execute(sa.text(_IN_FORCE), {"vendor": vendor}).mappings()
    return pa.Table.from_pylist([dict(row) for row in rows], schema=BASELINE)


def with_last_known(connection: Connection, vendor: str, rows: pa.Table) -> pa.Table:
    """The rows in force (BASELINE) with the last value that the kept months know where one is unknown."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.catalog.baseline import known
    from shelfsync.rows.alignment import any_of
    from shelfsync.schemas import BASELINE

    unknown = rows["sku"].filter(any_of(pc.is_null(rows[name]) for name in _VALUES)).to_pylist()
    found = connection.execute(sa.text(_LAST_KNOWN), {"vendor": vendor, "skus": unknown}).mappings()
    return known(rows, pa.Table.from_pylist([dict(row) for row in found], schema=BASELINE))


def _copy_moved(connection: Connection, rows: pa.Table) -> None:
    connection.execute(sa.text(_TEMP))
    wanted = rows.select(["sku", *_VALUES, *_BESIDE])
    copy_into(connection, "moved_row", wanted.rename_columns(["sku", *_VALUES, *_BESIDE.values()]))


_STATE_AT = """
SELECT DISTINCT ON (sku) sku, price, quantity, active, max_sales_quantity FROM warehouse.baseline_history
WHERE vendor = :vendor AND valid_from <= :at ORDER BY sku, version DESC
"""
_CHANGED_SINCE = "SELECT DISTINCT sku FROM warehouse.baseline_history WHERE vendor = :vendor AND valid_from > :at"


def state_at(connection: Connection, vendor: str, at: dt.datetime, now: pa.Table) -> pa.Table:
    """What was acknowledged of a vendor at an instant, computed from the months that are kept (BASELINE schema, by sku).

    `now` is the baseline in force: a SKU that the kept months do not name has not changed since. One that they name first after
    the instant was not acknowledged by then, or its row of then is gone: it is left out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.schemas import BASELINE, completed

    bound = {"vendor": vendor, "at": at}
    rows = list(connection.execute(sa.text(_STATE_AT), bound).mappings())
    later = connection.execute(sa.text(_CHANGED_SINCE), bound).scalars()
    then = pa.Table.from_pylist([dict(row) for row in rows], schema=BASELINE)
    known = pa.array([*(row["sku"] for row in rows), *later], pa.string())
    same = now.filter(pc.invert(pc.is_in(now["sku"], value_set=known)))
    state = pa.concat_tables([then, completed(same, BASELINE).select(BASELINE.names).cast(BASELINE)])
    return state.take(pc.sort_indices(state["sku"])).combine_chunks()


_UNMOVED = """
SELECT price, quantity, active, max_sales_quantity, acknowledged_at FROM warehouse.baseline AS held
WHERE held.vendor = :vendor AND held.sku = :sku AND NOT EXISTS (
    SELECT 1 FROM warehouse.baseline_history AS moved WHERE moved.vendor = :vendor AND moved.sku = :sku)
"""


@dataclass(frozen=True)
class Unmoved:
    """What is acknowledged of a SKU, unchanged since before an instant."""

    price: Decimal | None
    quantity: int | None
    active: bool | None
    max_sales_quantity: int | None
    since_before: dt.datetime


def unmoved(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Unmoved | None:
    """The acknowledged state of a SKU that did not change in the months that are kept (docs/reference/warehouse.md, Months).

    None if those months have a row of it, if it never was acknowledged, and for an instant before them, whose state is unknown.
    """
    row = connection.execute(sa.text(_UNMOVED), {"vendor": vendor, "sku": sku}).one_or_none()
    if row is None:
        return None
    since_before = monthly_partitions.kept_from(connection, "baseline_history") or row.acknowledged_at
    if at < since_before:
        return None
    return Unmoved(row.price, row.quantity, row.active, row.max_sales_quantity, since_before)
