"""What the platform was seen to show: one row a picture of a vendor, with its file in the lake (OBSERVED shape).

A picture is of some instant between `observed_at` (it was asked for) and `ended_at` (it had come). Which requests it can speak
about is told by numbers of jobs, not by clocks (I17): a job above `last_job_id` left after it was asked for, and what became of
`open_job_id` was not known then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import distinct_on

from shelfsync.ledger import tables
from shelfsync.ledger.metadata import metadata

if TYPE_CHECKING:
    import datetime as dt

    from sqlalchemy.engine import Connection

How = Literal["export", "listing"]

observation = sa.Table(
    "observation",
    metadata,
    sa.Column("observation_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Number of it"),
    sa.Column(
        "vendor", sa.Text, sa.ForeignKey(tables.vendor.c.vendor), nullable=False, comment="The vendor that was seen"
    ),
    sa.Column("how", sa.Text, nullable=False, comment="export or listing"),
    sa.Column("path", sa.Text, nullable=False, comment="Lake: what was shown, a row a SKU"),
    sa.Column("raw_path", sa.Text, comment="Lake: the file as it came"),
    sa.Column("extra_path", sa.Text, comment="Lake: its columns that nobody knows; null: it had none"),
    sa.Column("rows", sa.BigInteger, nullable=False, comment="SKUs shown"),
    sa.Column("last_job_id", sa.BigInteger, comment="Newest job of the vendor when it was asked for; null: none"),
    sa.Column("open_job_id", sa.BigInteger, comment="Job of the vendor that was open when it was asked for"),
    sa.Column(
        "observed_at",
        sa.DateTime(timezone=True),
        nullable=False,
        comment="When it was asked for: it shows no older state",
    ),
    sa.Column(
        "ended_at", sa.DateTime(timezone=True), nullable=False, comment="When it had come: it shows no newer state"
    ),
    sa.Index("ix_observation_vendor_observed_at", "vendor", "observed_at", "observation_id"),
    sa.CheckConstraint("how IN ('export', 'listing')", name="how"),
    schema="ledger",
    comment="What the platform was seen to show of a vendor, one row a picture",
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
    open_job_id: int | None
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
    """Notes a picture, its files being in the lake; its number. `pointers`: raw_path, extra_path, last_job_id, open_job_id."""
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
    """The picture of this number."""
    row = (
        connection.execute(sa.select(*_COLUMNS).where(observation.c.observation_id == observation_id)).mappings().one()
    )
    return Observation(**row)


def newest(connection: Connection, vendor: str, *, before: Observation | None = None) -> Observation | None:
    """The last picture of a vendor, or the last one `before` another; None while it was never seen."""
    statement = sa.select(*_COLUMNS).where(observation.c.vendor == vendor)
    if before is not None:
        place = sa.tuple_(observation.c.observed_at, observation.c.observation_id)
        statement = statement.where(place < sa.tuple_(before.observed_at, before.observation_id))
    row = connection.execute(statement.order_by(*_NEWEST_FIRST).limit(1)).mappings().one_or_none()
    return None if row is None else Observation(**row)


def newest_of_all(connection: Connection) -> dict[str, Observation]:
    """The last picture of every vendor that was ever seen."""
    statement = (
        sa.select(*_COLUMNS).ext(distinct_on(observation.c.vendor)).order_by(observation.c.vendor, *_NEWEST_FIRST)
    )
    return {row["vendor"]: Observation(**row) for row in connection.execute(statement).mappings()}
