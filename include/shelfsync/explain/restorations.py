"""The times for which a person wanted a past state of a SKU instead of what the ERP says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.explain.event import Event

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
