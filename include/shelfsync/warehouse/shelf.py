"""What the platform showed, as history: a row says what was shown of a SKU from one picture until another one said otherwise.

A picture is loaded by what it changes: the file loaded before and the new one are compared, and only SKUs that came, changed or left
are written (COPY, and one MERGE that closes the rows they end). What is written follows from files alone, so a load done twice, or
by two processes, or killed half-way and done again, ends in the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.errors import DataError, TryAgainError
from shelfsync.ledger.instant import instant
from shelfsync.ledger.metadata import metadata
from shelfsync.warehouse import record, tables
from shelfsync.warehouse.load import copy_into

if TYPE_CHECKING:
    import datetime as dt

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.ledger.observations import Observation

VALUES = ("barcode", "price", "active", "max_sales_quantity")


def _time(name: str, comment: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


def _count(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


observation = sa.Table(
    "observation",
    metadata,
    sa.Column("observation_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Number of the picture"),
    sa.Column("vendor", sa.Text, sa.ForeignKey(tables.vendor.c.vendor), nullable=False, comment="The vendor"),
    sa.Column("how", sa.Text, nullable=False, comment="export or listing"),
    sa.Column("path", sa.Text, nullable=False, comment="Lake, while ledger.observation has it: a row a SKU"),
    sa.Column(
        "in_history",
        sa.Boolean,
        nullable=False,
        comment="False: it came after a newer one, so the history passed it by",
    ),
    _count("rows", "SKUs shown"),
    _count("rows_new", "SKUs that were not shown before"),
    _count("rows_changed", "SKUs shown with another value than before"),
    _count("rows_gone", "SKUs that are shown no more"),
    _time("observed_at", "When it was asked for: it shows no older state"),
    _time("loaded_at", "When it was loaded"),
    sa.Index("ix_observation_vendor", "vendor", "observed_at"),
    schema="warehouse",
    comment="One row a picture of a vendor that was loaded, each file once",
)

assortment_history = sa.Table(
    "assortment_history",
    metadata,
    sa.Column("vendor", sa.Text, primary_key=True, comment="The vendor"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU"),
    sa.Column(
        "valid_from",
        sa.DateTime(timezone=True),
        primary_key=True,
        comment="The picture that first showed these values: they may be up to one picture older",
    ),
    _time("valid_to", "The picture that first showed others, or the SKU no more; null: still shown", nullable=True),
    sa.Column("barcode", sa.Text, comment="Barcode shown, without padding"),
    sa.Column("price", sa.Numeric(20, 3), comment="Price shown"),
    sa.Column("active", sa.Boolean, comment="Whether it was on sale"),
    sa.Column("max_sales_quantity", sa.BigInteger, comment="Most pieces an order may hold; null: no limit"),
    schema="warehouse",
    comment="What the platform showed of each SKU and when (type 2): one row a span of unchanged values",
)


@dataclass(frozen=True)
class LastLoaded:
    """The newest picture in the history of a vendor."""

    observation_id: int
    path: str
    rows: int
    observed_at: dt.datetime


@dataclass(frozen=True)
class Loaded:
    """The same with its rows (OBSERVED shape)."""

    last: LastLoaded
    table: pa.Table


def last_loaded(connection: Connection, vendor: str) -> LastLoaded | None:
    """What a vendor's history ends with, or None while it is empty."""
    seen = observation.c
    statement = (
        sa.select(seen.observation_id, seen.path, seen.rows, seen.observed_at)
        .where(seen.vendor == vendor, seen.in_history)
        .order_by(seen.observed_at.desc(), seen.observation_id.desc())
        .limit(1)
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else LastLoaded(*row)


def load_observation(connection: Connection, seen: Observation, rows: pa.Table, *, before: Loaded | None) -> None:
    """Brings a vendor's history to this picture (OBSERVED shape), once, in the caller's transaction.

    `before` is what `last_loaded` said, with its rows. Loaded before: nothing happens. Older than what is loaded: noted, not in the
    history. TryAgainError when somebody else loaded another one meanwhile, DataError when the rows do not add up afterwards.
    """
    record.record_vendors(connection, [seen.vendor])
    late = before is not None and before.last.observed_at >= seen.observed_at
    if not _claim(connection, seen, in_history=not late):
        return
    now = _last_but(connection, seen)
    if (None if now is None else now.observation_id) != (None if before is None else before.last.observation_id):
        raise TryAgainError(f"observe: vendor {seen.vendor}: another picture was loaded meanwhile; this one is next")
    if late:
        return
    new, changed, gone = compared(rows, None if before is None else before.table)
    if before is not None:
        _close(connection, seen, _joined(changed.select(["sku"]), gone))
    for part in (new, changed):
        _open(connection, seen, part)
    counts = {"rows_new": new.num_rows, "rows_changed": changed.num_rows, "rows_gone": gone.num_rows}
    connection.execute(observation.update().where(observation.c.observation_id == seen.observation_id).values(counts))
    _prove(seen, before, counts)


def _claim(connection: Connection, seen: Observation, *, in_history: bool) -> bool:
    values = {
        "observation_id": seen.observation_id,
        "vendor": seen.vendor,
        "how": seen.how,
        "path": seen.path,
        "rows": seen.rows,
        "in_history": in_history,
        "observed_at": seen.observed_at,
        "loaded_at": instant(),
    }
    statement = insert(observation).values(values).on_conflict_do_nothing().returning(observation.c.observation_id)
    return connection.execute(statement).one_or_none() is not None


def _last_but(connection: Connection, seen: Observation) -> LastLoaded | None:
    """What the history ended with before this picture was noted."""
    its = observation.c
    statement = (
        sa.select(its.observation_id, its.path, its.rows, its.observed_at)
        .where(its.vendor == seen.vendor, its.in_history, its.observation_id != seen.observation_id)
        .order_by(its.observed_at.desc(), its.observation_id.desc())
        .limit(1)
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else LastLoaded(*row)


def compared(rows: pa.Table, before: pa.Table | None) -> tuple[pa.Table, pa.Table, pa.Table]:
    """(new, changed, gone): the first two in OBSERVED shape, the last one column of SKUs."""
    import pyarrow.compute as pc

    if before is None:
        return rows, rows.slice(0, 0), rows.slice(0, 0).select(["sku"])
    skus = rows["sku"].combine_chunks()
    then = before["sku"].combine_chunks()
    places = pc.index_in(skus, value_set=then)
    known = places.is_valid()
    same = known
    for name in VALUES:
        one, other = rows[name].combine_chunks(), before[name].combine_chunks().take(places)
        equal = pc.or_(pc.equal(one, other).fill_null(False), pc.and_(one.is_null(), other.is_null()))
        same = pc.and_(same, equal)
    gone = before.select(["sku"]).filter(pc.invert(pc.is_in(then, value_set=skus)))
    return rows.filter(pc.invert(known)), rows.filter(pc.and_(known, pc.invert(same))), gone


def _joined(one: pa.Table, other: pa.Table) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables([one, other])


_CLOSE = """
MERGE INTO warehouse.assortment_history AS shown USING ended_row AS ended
ON shown.vendor = :vendor AND shown.sku = ended.sku AND shown.valid_to IS NULL
WHEN MATCHED THEN UPDATE SET valid_to = :at
"""


def _close(connection: Connection, seen: Observation, skus: pa.Table) -> None:
    """Ends the spans of these SKUs at this picture."""
    if not skus.num_rows:
        return
    connection.execute(sa.text("CREATE TEMPORARY TABLE ended_row (sku text) ON COMMIT DROP"))
    copy_into(connection, "ended_row", skus)
    connection.execute(sa.text("ANALYZE ended_row"))
    closed = connection.execute(sa.text(_CLOSE), {"vendor": seen.vendor, "at": seen.observed_at}).rowcount
    connection.execute(sa.text("DROP TABLE ended_row"))
    if closed != skus.num_rows:
        raise DataError(
            f"warehouse: vendor {seen.vendor}: {closed} of {skus.num_rows} spans of the assortment history were open where the"
            f" picture before says they are; nothing was loaded. Was warehouse.assortment_history changed by hand?"
        )


def _open(connection: Connection, seen: Observation, rows: pa.Table) -> None:
    """Begins a span for each of these rows at this picture."""
    import pyarrow as pa

    if not rows.num_rows:
        return
    count = rows.num_rows
    at = pa.scalar(seen.observed_at, pa.timestamp("us", tz="UTC"))
    stamped = rows.append_column("vendor", pa.repeat(pa.scalar(seen.vendor), count))
    copy_into(connection, "warehouse.assortment_history", stamped.append_column("valid_from", pa.repeat(at, count)))


def _prove(seen: Observation, before: Loaded | None, counts: dict[str, int]) -> None:
    """What was open, and what came and went, must be what the picture shows."""
    then = 0 if before is None else before.last.rows
    if then + counts["rows_new"] - counts["rows_gone"] != seen.rows:
        raise DataError(
            f"warehouse: vendor {seen.vendor}: {then} SKUs before, {counts['rows_new']} came, {counts['rows_gone']} went,"
            f" and the picture {seen.path} has {seen.rows}; nothing was loaded. Is the file the one that was observed?"
        )
