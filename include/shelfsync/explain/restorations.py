"""The times for which a person wanted a past state of a SKU instead of what the ERP says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Event
from shelfsync.ledger.restorations import Restoration

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection

RESTORATIONS_MAX = 20
"""So many of a vendor are told, newest first."""

_OF_SKU = """
SELECT restoration_id, state_at, until_at, why, who, begun_at, ended_at, ended_by FROM ledger.restoration
WHERE vendor = :vendor AND begun_at <= :at AND (skus IS NULL OR :sku = ANY (skus)) ORDER BY restoration_id DESC LIMIT :most
"""

_IN_FORCE = """
SELECT restoration_id, vendor, skus, path, state_at, until_at, why, who, begun_at FROM ledger.restoration
WHERE vendor = :vendor AND (skus IS NULL OR :sku = ANY (skus)) AND begun_at <= :at
    AND until_at > :since AND (ended_at IS NULL OR ended_at > :since)
ORDER BY restoration_id
"""


def in_force(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> list[Restoration]:
    """The restorations of the SKU that were in force at an instant, oldest first: a newer one is laid over an older one."""
    return in_force_since(connection, vendor, sku, at, at)


def in_force_since(
    connection: Connection, vendor: str, sku: str, since: dt.datetime, at: dt.datetime
) -> list[Restoration]:
    """Those that were in force at any time between two instants."""
    bound = {"vendor": vendor, "sku": sku, "since": since, "at": at}
    return [Restoration(**row) for row in connection.execute(sa.text(_IN_FORCE), bound).mappings()]


def restored(connection: Connection, vendor: str, sku: str, at: dt.datetime) -> Iterator[Event]:
    """When each was ordered, and when it ended, by a person or by its time."""
    bound = {"vendor": vendor, "sku": sku, "at": at, "most": RESTORATIONS_MAX}
    for row in connection.execute(sa.text(_OF_SKU), bound).all():
        name = f"restoration {row.restoration_id}"
        span = f"as of {row.state_at:%Y-%m-%d %H:%M:%S}, until {row.until_at:%Y-%m-%d %H:%M:%S}"
        yield Event(row.begun_at, "restore", f"{name}: wanted {span}, by {row.who}: {row.why}")
        if row.ended_at is not None and row.ended_at <= at:
            yield Event(row.ended_at, "restore", f"{name} was ended by {row.ended_by}: the ERP counts again")
        elif row.ended_at is None and row.until_at <= at:
            yield Event(row.until_at, "restore", f"{name} is over by its time: the ERP counts again")
