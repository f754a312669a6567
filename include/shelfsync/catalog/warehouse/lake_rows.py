"""The lake's Parquet files of a vendor as rows of the warehouse's large tables: outcomes, observed and acknowledged states.

They are the rows that the steps wrote into the database, read again from their files, as far back as the lake keeps these.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from shelfsync.catalog.ledger import observations, vendors
from shelfsync.catalog.ledger import tables as ledger
from shelfsync.catalog.warehouse import assortment_history
from shelfsync.platform.jobs.table import job as job_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.store.lake import Lake

TABLES = (
    "warehouse.sku_outcome",
    "warehouse.assortment_history",
    "warehouse.baseline_history",
    "warehouse.baseline",
)
"""Read from the lake's files; two columns of the last table are computed from the one before it."""

_VALUES = ("price", "quantity", "active", "max_sales_quantity")


def of_vendor(connection: Connection, lake: Lake, vendor: str) -> Iterator[tuple[str, pa.Table]]:
    """(table, rows of it), a file at a time."""
    for name, part in (
        ("warehouse.sku_outcome", _outcomes),
        ("warehouse.assortment_history", _spans),
        ("warehouse.baseline_history", _acknowledged),
    ):
        for rows in part(connection, lake, vendor):
            yield name, rows
    current = vendors.current_baseline(connection, vendor)
    if current is not None:
        held = lake.read_table(current.path, columns=["sku", *_VALUES])
        yield "warehouse.baseline", _stamped(held, vendor=vendor)


def _outcomes(connection: Connection, lake: Lake, vendor: str) -> Iterator[pa.Table]:
    """One row a SKU and job: the values sent with their outcome."""
    job, batch = job_table.c, ledger.batch.c
    statement = (
        sa.select(job.job_id, batch.items_path, job.outcomes_path, job.ended_at)
        .join(ledger.batch, batch.batch_id == job.batch_id)
        .where(job.vendor == vendor, job.outcomes_path.is_not(None))
        .order_by(job.job_id)
    )
    for row in connection.execute(statement).all():
        items = lake.read_table(row.items_path, columns=["sku", "change", *_VALUES])
        outcomes = lake.read_table(row.outcomes_path, columns=["state", "reason"])
        both = items.append_column("state", outcomes["state"]).append_column("reason", outcomes["reason"])
        yield _stamped(both, vendor=vendor, job_id=row.job_id, known_at=row.ended_at)


def _spans(connection: Connection, lake: Lake, vendor: str) -> Iterator[pa.Table]:
    """The observed states, a span at a time: each closed when a later observation ends it, the open ones last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    seen, kept = assortment_history.observation.c, observations.observation.c
    statement = (
        sa.select(kept.path, seen.observed_at)
        .join_from(observations.observation, assortment_history.observation, kept.observation_id == seen.observation_id)
        .where(seen.vendor == vendor, seen.in_history)
        .order_by(seen.observed_at, seen.observation_id)
    )
    before: pa.Table | None = None
    still: pa.Table | None = None
    for row in connection.execute(statement).all():
        shown = lake.read_table(row.path)
        new, changed, gone = assortment_history.compared(shown, before)
        fresh = _stamped(pa.concat_tables([new, changed]), vendor=vendor, valid_from=row.observed_at)
        if still is not None:
            ended = pa.concat_arrays(
                [part["sku"].combine_chunks() for part in (changed, gone) if part.num_rows]
                or [pa.array([], pa.string())]
            )
            over = pc.is_in(still["sku"], value_set=ended)
            yield _stamped(still.filter(over), valid_to=row.observed_at)
            fresh = pa.concat_tables([still.filter(pc.invert(over)), fresh])
        before, still = shown, fresh
    if still is not None:
        yield still


def _acknowledged(connection: Connection, lake: Lake, vendor: str) -> Iterator[pa.Table]:
    """What each version of the baseline changed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = ledger.baseline.c
    statement = (
        sa.select(columns.version, columns.path, columns.created_at, columns.job_id, columns.observation_id)
        .where(columns.vendor == vendor)
        .order_by(columns.version)
    )
    before: pa.Table | None = None
    for row in connection.execute(statement).all():
        held = lake.read_table(row.path, columns=["sku", *_VALUES])
        differs = pa.repeat(pa.scalar(value=True), held.num_rows)
        if before is not None:
            places = pc.index_in(held["sku"].combine_chunks(), value_set=before["sku"].combine_chunks())
            same = places.is_valid()
            for name in _VALUES:
                now, then = held[name].combine_chunks(), before[name].combine_chunks().take(places)
                equal = pc.or_(pc.equal(now, then).fill_null(False), pc.and_(now.is_null(), then.is_null()))
                same = pc.and_(same, equal)
            differs = pc.invert(same)
        stamps: dict[str, Any] = {"version": row.version, "valid_from": row.created_at}
        by = {"job_id": row.job_id, "observation_id": row.observation_id}
        moved = held.filter(differs)
        if before is not None:
            moved = pa.concat_tables([moved, _off_sale(before, held)])
        yield _stamped(moved, vendor=vendor, **stamps, **by)
        before = held


def _off_sale(before: pa.Table, held: pa.Table) -> pa.Table:
    """SKUs that left the baseline: their history ends off sale."""
    import pyarrow as pa
    import pyarrow.compute as pc

    left = before["sku"].filter(pc.invert(pc.is_in(before["sku"], value_set=held["sku"].combine_chunks())))
    columns = {name: pa.nulls(len(left), held.schema.field(name).type) for name in _VALUES}
    columns |= {"sku": left, "active": pa.repeat(pa.scalar(value=False), len(left))}
    return pa.table([columns[name] for name in held.schema.names], schema=held.schema)


def _stamped(rows: pa.Table, **values: Any) -> pa.Table:
    """The rows with columns of one value each; None is a null of a number."""
    import pyarrow as pa

    for name, value in values.items():
        kind = (
            pa.timestamp("us", tz="UTC")
            if isinstance(value, dt.datetime)
            else pa.string()
            if isinstance(value, str)
            else pa.int64()
        )
        rows = rows.append_column(name, pa.repeat(pa.scalar(value, kind), rows.num_rows))
    return rows
