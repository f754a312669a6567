"""Tables that grow by the month: a partition is created with its first row. Housekeeping drops it as a whole (`old_months`).

Partitions live in a schema of their own, so that people who look at the warehouse see one table.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

SCHEMA = "partition"
TABLES = ("sku_outcome", "baseline_history")
"""The tables of the warehouse that are partitioned, each by the month (UTC) of a time."""

_LOCK = 7_305_002  # any fixed number: two loads that need the same new month make it one after the other


def ensure(connection: Connection, table: str, at: dt.datetime) -> None:
    """Creates the partition of this instant if there is none, in the caller's transaction."""
    first = month_of(at)
    name = f"{table}_{first:%Y_%m}"
    if _there(connection, name):
        return
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    if _there(connection, name):
        return
    after = months_later(first, 1)
    # made separately and attached: this blocks no reader or writer of the others
    connection.execute(
        sa.text(f"CREATE TABLE {SCHEMA}.{name} (LIKE warehouse.{table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
    )
    connection.execute(
        sa.text(
            f"ALTER TABLE warehouse.{table} ATTACH PARTITION {SCHEMA}.{name}"
            f" FOR VALUES FROM ('{first:%Y-%m-%d} 00:00:00+00') TO ('{after:%Y-%m-%d} 00:00:00+00')"
        )
    )


def ensure_present(connection: Connection, table: str) -> dt.datetime:
    """The present by the database's clock, whose partition is there."""
    query = sa.text(
        "SELECT present.at, EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = :schema"
        " AND tablename = :table || to_char(present.at AT TIME ZONE 'UTC', '_YYYY_MM')) AS there"
        " FROM (SELECT ledger.instant() AS at) AS present"
    )
    found = connection.execute(query, {"schema": SCHEMA, "table": table}).one()
    at: dt.datetime = found.at
    if not found.there:
        ensure(connection, table, at)
    return at


def kept_from(connection: Connection, table: str) -> dt.datetime | None:
    """The begin of the oldest month that one of these tables still has; None while it has none."""
    query = sa.text("SELECT min(tablename) FROM pg_tables WHERE schemaname = :schema AND starts_with(tablename, :name)")
    name = connection.execute(query, {"schema": SCHEMA, "name": f"{table}_"}).scalar_one()
    return None if name is None else dt.datetime.combine(month_in(name), dt.time(), dt.UTC)


def month_of(at: dt.datetime) -> dt.date:
    """The first day of its month, in UTC."""
    utc = at.astimezone(dt.UTC)
    return dt.date(utc.year, utc.month, 1)


def months_later(month: dt.date, months: int) -> dt.date:
    """The first day of the month so many months later."""
    count = month.year * 12 + month.month - 1 + months
    return dt.date(count // 12, count % 12 + 1, 1)


def month_in(name: str) -> dt.date:
    """The first day of the month of a partition."""
    year, month = name.rsplit("_", 2)[1:]
    return dt.date(int(year), int(month), 1)


def _there(connection: Connection, name: str) -> bool:
    # a query of the catalog and not to_regclass, which in one transaction keeps its result from before another process made the table
    query = sa.text("SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = :schema AND tablename = :name)")
    return bool(connection.execute(query, {"schema": SCHEMA, "name": name}).scalar_one())
