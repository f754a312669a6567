"""The restorations of a SKU: in each, an operator ordered a past state instead of the ERP's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync import display
from shelfsync.catalog.ledger.restorations import Restoration
from shelfsync.explain.explanation import Event

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from sqlalchemy.engine import Connection

    from shelfsync.context import Context

RESTORATIONS_MAX = 20
"""How many restorations of a vendor are read, newest first."""

_OF_SKU = """
SELECT restoration_id, state_at, until_at, why, who, begun_at, ended_at, ended_by FROM ledger.restoration
WHERE vendor = :vendor AND begun_at <= :at AND (skus IS NULL OR :sku = ANY (skus)) ORDER BY restoration_id DESC LIMIT :most
"""

_RESTORATIONS_IN_FORCE = """
SELECT restoration_id, vendor, skus, path, state_at, until_at, why, who, begun_at FROM ledger.restoration
WHERE vendor = :vendor AND (skus IS NULL OR :sku = ANY (skus)) AND begun_at <= :at
    AND until_at > :since AND (ended_at IS NULL OR ended_at > :since)
ORDER BY restoration_id
"""


def in_force(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> list[Restoration]:
    """The restorations of the SKU that were in force at an instant, oldest first: a newer one overrides an older one."""
    return in_force_since(connection, vendor, sku, at, at)


def in_force_since(
    connection: Connection, vendor: str, sku: str, since: dt.datetime, at: dt.datetime
) -> list[Restoration]:
    """Those that were in force at any time between two instants."""
    bound = {"vendor": vendor, "sku": sku, "since": since, "at": at}
    return [Restoration(**row) for row in connection.execute(sa.text(_RESTORATIONS_IN_FORCE), bound).mappings()]


def events(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Iterator[Event]:
    """When each was ordered, and when it ended, by an operator or at its end time."""
    bound = {"vendor": vendor, "sku": sku, "at": at, "most": RESTORATIONS_MAX}
    for row in connection.execute(sa.text(_OF_SKU), bound).all():
        name = f"restoration {row.restoration_id}"
        span = f"as of {display.instant(row.state_at)}, until {display.instant(row.until_at)}"
        yield Event(row.begun_at, "restore", f"{row.who} ordered {name} ({span}): {row.why}")
        if row.ended_at is not None and row.ended_at <= at:
            yield Event(row.ended_at, "restore", f"{row.ended_by} ended {name}: the ERP's values apply again")
        elif row.ended_at is None and row.until_at <= at:
            yield Event(row.until_at, "restore", f"{name} ended at its end time: the ERP's values apply again")


def laid_over(context: Context, erp: pa.Table | None, sku: str, ordered: Iterable[Restoration]) -> pa.Table | None:
    """The row with these restorations applied, oldest first; None: none of them has the SKU."""
    import pyarrow as pa

    from shelfsync.catalog.restore import overlay
    from shelfsync.schemas import SNAPSHOT

    row, skus = (SNAPSHOT.empty_table() if erp is None else erp), pa.array([sku])
    for restoration in ordered:
        if context.lake.exists(restoration.path):
            row = overlay(row, context.lake.read_table(restoration.path), skus)
    return row if row.num_rows else None
