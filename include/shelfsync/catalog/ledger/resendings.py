"""Counts how often shelfsync resent a drifted value, so that two systems do not change a value back and forth forever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.catalog.ledger import observations, tables
from shelfsync.store.instant import after, instant
from shelfsync.store.metadata import metadata

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

resending = sa.Table(
    "resending",
    metadata,
    sa.Column("vendor", sa.Text, sa.ForeignKey(tables.vendor.c.vendor), primary_key=True, comment="The vendor"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU"),
    sa.Column("field", sa.Text, primary_key=True, comment="The field that differed; sku: the platform did not show it"),
    sa.Column(
        "observation_id",
        sa.BigInteger,
        sa.ForeignKey(observations.observation.c.observation_id),
        primary_key=True,
        index=True,
        comment="The observation that showed it",
    ),
    sa.Column(
        "resent_at", sa.DateTime(timezone=True), nullable=False, comment="When the value was marked for the next delta"
    ),
    schema="ledger",
    comment="One row a drifted value that was sent again; a drift that returns too often becomes a rejection",
)


def counts(connection: Connection, vendor: str, *, within_s: float) -> dict[tuple[str, str], int]:
    """(SKU, field) -> how often it was sent again within `within_s`."""
    statement = (
        sa.select(resending.c.sku, resending.c.field, sa.func.count())
        .where(resending.c.vendor == vendor, resending.c.resent_at > after(-within_s))
        .group_by(resending.c.sku, resending.c.field)
    )
    return {(row[0], row[1]): row[2] for row in connection.execute(statement)}


def remember(connection: Connection, vendor: str, observation_id: int, values: Iterable[tuple[str, str]]) -> None:
    """Records the (SKU, field) that one observation leads to resend. The same observation twice counts once."""
    rows = [{"vendor": vendor, "sku": sku, "field": name, "observation_id": observation_id} for sku, name in values]
    if rows:
        connection.execute(insert(resending).values(resent_at=instant()).on_conflict_do_nothing(), rows)
