"""Restorations: for a time, a vendor's past acknowledged state replaces the ERP's values.

A restoration is in force from its row's commit until `until_at`, or until a person ends it. The newest one that names a SKU counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from shelfsync import display
from shelfsync.catalog.ledger import tables
from shelfsync.catalog.ledger.tables import baseline
from shelfsync.store.bulk import among
from shelfsync.store.metadata import identity, instant, lake_file, line, metadata, moment, text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Collection, Sequence

    from sqlalchemy.engine import Connection

restoration = sa.Table(
    "restoration",
    metadata,
    identity("restoration_id", "Number of it"),
    text("vendor", "The vendor", sa.ForeignKey(tables.vendor.c.vendor), nullable=False),
    sa.Column("skus", ARRAY(sa.Text), comment="The SKUs; null: the whole assortment"),
    lake_file("path", "Lake: the acknowledged state that is wanted again", nullable=False),
    moment("state_at", "The instant whose state is wanted", nullable=False),
    moment("until_at", "When the ERP's values apply again", nullable=False),
    line("why", "The person's reason", nullable=False),
    text("who", "The person", nullable=False),
    moment("begun_at", "When it was ordered", nullable=False),
    moment("ended_at", "When a person ended it early"),
    text("ended_by", "Who ended it"),
    sa.CheckConstraint("until_at > begun_at", name="span"),
    sa.Index("ix_restoration_vendor", "vendor", "restoration_id"),
    schema="ledger",
    comment="A past acknowledged state that replaces the ERP's values for a time",
)


@dataclass(frozen=True)
class Restoration:
    """One row of `ledger.restoration`."""

    restoration_id: int
    vendor: str
    skus: list[str] | None
    path: str
    state_at: dt.datetime
    until_at: dt.datetime
    why: str
    who: str
    begun_at: dt.datetime

    def __str__(self) -> str:
        what = "the whole assortment" if self.skus is None else f"{len(self.skus)} SKUs"
        return (
            f"{what} of store {self.vendor} is kept as it was at {display.instant(self.state_at)} until"
            f" {display.instant(self.until_at)}, by {self.who}: {self.why}"
        )


_COLUMNS = [restoration.c[name] for name in Restoration.__dataclass_fields__]
_IN_FORCE = sa.and_(restoration.c.ended_at.is_(None), restoration.c.until_at > instant())


def begin(
    connection: Connection,
    vendor: str,
    *,
    skus: Sequence[str] | None,
    path: str,
    state_at: dt.datetime,
    until_at: dt.datetime,
    why: str,
    who: str,
) -> int:
    """From this transaction's commit the past state is wanted; its number."""
    values = {
        "vendor": vendor,
        "skus": None if skus is None else list(skus),
        "path": path,
        "state_at": state_at,
        "until_at": until_at,
        "why": why,
        "who": who,
        "begun_at": instant(),
    }
    statement = restoration.insert().values(values).returning(restoration.c.restoration_id)
    return int(connection.execute(statement).scalar_one())


def in_force(connection: Connection, names: Collection[str] | None = None) -> list[Restoration]:
    """What counts now, oldest first: a newer one is laid over an older one. `names`: of these vendors only."""
    statement = sa.select(*_COLUMNS).where(_IN_FORCE).order_by(restoration.c.restoration_id)
    if names is not None:
        statement = statement.where(among(restoration.c.vendor, names))
    return [Restoration(**row) for row in connection.execute(statement).mappings()]


def is_in_force(vendor: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether anything is restored of a vendor, within a query."""
    return sa.exists().where(restoration.c.vendor == vendor, _IN_FORCE)


def end(connection: Connection, vendor: str, *, who: str) -> list[Restoration]:
    """The ERP counts again for this vendor; what was ended."""
    ended = in_force(connection, [vendor])
    statement = restoration.update().where(_IN_FORCE, restoration.c.vendor == vendor)
    connection.execute(statement.values(ended_at=instant(), ended_by=who))
    return ended


def version_at(connection: Connection, vendor: str, at: dt.datetime) -> str | None:
    """The path of the baseline that was in force then; None: its row is gone, or nothing was acknowledged by then."""
    statement = (
        sa.select(baseline.c.path)
        .where(baseline.c.vendor == vendor, baseline.c.created_at <= at)
        .order_by(baseline.c.version.desc())
        .limit(1)
    )
    return connection.execute(statement).scalar_one_or_none()
