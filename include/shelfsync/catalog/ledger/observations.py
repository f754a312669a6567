"""Observations: what the platform showed of a vendor. One row an observation, with its file in the lake (OBSERVED schema).

An observation is of some instant between `observed_at` (requested) and `ended_at` (received). Job numbers, not clocks, decide
which jobs it can show (I17). A job above `last_job_id` was sent after the request. The outcome of `open_job_ids` was not known
then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert

from shelfsync.catalog.ledger import tables
from shelfsync.store.metadata import after, identity, instant, lake_file, metadata, moment, number, text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection


How = Literal["export", "listing"]

observation = sa.Table(
    "observation",
    metadata,
    identity("observation_id", "Number of it"),
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), nullable=False),
    text("how", "export or listing", nullable=False),
    lake_file("path", "Lake: the values shown, a row a SKU", nullable=False),
    lake_file("raw_path", "Lake: the file as received"),
    lake_file("extra_path", "Lake: its unknown columns; null: it had none"),
    number("rows", "SKUs shown", nullable=False),
    number("last_job_id", "Newest job of the vendor when it was requested; null: none"),
    sa.Column("open_job_ids", ARRAY(sa.BigInteger), comment="Jobs of the vendor that were open when it was requested"),
    moment("observed_at", "When it was requested: it shows no older state", nullable=False),
    moment("ended_at", "When it was received: it shows no newer state", nullable=False),
    sa.Index("ix_observation_vendor_observed_at", "vendor", "observed_at", "observation_id"),
    sa.CheckConstraint("how IN ('export', 'listing')", name="how"),
    schema="ledger",
    comment="One row an observation: what the platform showed of a vendor",
)


@dataclass(frozen=True)
class Observation:
    """One row of `ledger.observation`."""

    observation_id: int
    vendor: str
    how: How
    path: str
    raw_path: str | None
    extra_path: str | None
    rows: int
    last_job_id: int | None
    open_job_ids: list[int] | None
    observed_at: dt.datetime
    ended_at: dt.datetime


_COLUMNS = [observation.c[name] for name in Observation.__dataclass_fields__]
_NEWEST_FIRST = (observation.c.observed_at.desc(), observation.c.observation_id.desc())


def record(
    connection: Connection,
    vendor: str,
    *,
    how: How,
    path: str,
    rows: int,
    observed_at: dt.datetime,
    ended_at: dt.datetime,
    **pointers: Any,
) -> int:
    """Records an observation whose files are in the lake; returns its number.

    `pointers`: raw_path, extra_path, last_job_id, open_job_ids.
    """
    values = {
        "vendor": vendor,
        "how": how,
        "path": path,
        "rows": rows,
        "observed_at": observed_at,
        "ended_at": ended_at,
        **pointers,
    }
    return int(
        connection.execute(observation.insert().values(values).returning(observation.c.observation_id)).scalar_one()
    )


def read(connection: Connection, observation_id: int) -> Observation:
    """The observation of this number."""
    row = (
        connection.execute(sa.select(*_COLUMNS).where(observation.c.observation_id == observation_id)).mappings().one()
    )
    return Observation(**row)


def newest(connection: Connection, vendor: str, *, before: Observation | None = None) -> Observation | None:
    """The newest observation of a vendor, or the newest `before` another; None if there is none."""
    statement = sa.select(*_COLUMNS).where(observation.c.vendor == vendor)
    if before is not None:
        place = sa.tuple_(observation.c.observed_at, observation.c.observation_id)
        statement = statement.where(place < sa.tuple_(before.observed_at, before.observation_id))
    row = connection.execute(statement.order_by(*_NEWEST_FIRST).limit(1)).mappings().one_or_none()
    return None if row is None else Observation(**row)


def newest_path(vendor: sa.ColumnElement[str]) -> sa.ScalarSelect[str]:
    """Lake: the newest observation of a vendor, within a query."""
    mine = sa.select(observation.c.path).where(observation.c.vendor == vendor)
    return mine.order_by(*_NEWEST_FIRST).limit(1).scalar_subquery()


resending = sa.Table(
    "resending",
    metadata,
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), primary_key=True),
    text("sku", "The SKU", primary_key=True),
    text("field", "The field that differed; sku: the platform did not show it", primary_key=True),
    number(
        "observation_id",
        "The observation that showed it",
        sa.ForeignKey(observation.c.observation_id),
        primary_key=True,
        index=True,
    ),
    moment("resent_at", "When the value was marked for the next delta", nullable=False),
    schema="ledger",
    comment="One row a drifted value that was sent again; a drift that returns too often becomes a rejection",
)


def resent_counts(connection: Connection, vendor: str, *, within_s: float) -> dict[tuple[str, str], int]:
    """(SKU, field) -> how often it was sent again within `within_s`."""
    statement = (
        sa.select(resending.c.sku, resending.c.field, sa.func.count())
        .where(resending.c.vendor == vendor, resending.c.resent_at > after(-within_s))
        .group_by(resending.c.sku, resending.c.field)
    )
    return {(row[0], row[1]): row[2] for row in connection.execute(statement)}


def remember_resent(
    connection: Connection, vendor: str, observation_id: int, values: Iterable[tuple[str, str]]
) -> None:
    """Records the (SKU, field) that one observation leads to resend. The same observation twice counts once."""
    rows = [{"vendor": vendor, "sku": sku, "field": name, "observation_id": observation_id} for sku, name in values]
    if rows:
        connection.execute(insert(resending).values(resent_at=instant()).on_conflict_do_nothing(), rows)
