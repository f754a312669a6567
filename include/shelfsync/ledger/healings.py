"""How often a drift was healed, so that nobody fights about a value for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from shelfsync.ledger import observations, tables
from shelfsync.ledger.instant import after, instant
from shelfsync.ledger.metadata import metadata

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Connection

healing = sa.Table(
    "healing",
    metadata,
    sa.Column("vendor", sa.Text, sa.ForeignKey(tables.vendor.c.vendor), primary_key=True, comment="The vendor"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU"),
    sa.Column("field", sa.Text, primary_key=True, comment="The value that differed; sku: it was not shown at all"),
    sa.Column(
        "observation_id",
        sa.BigInteger,
        sa.ForeignKey(observations.observation.c.observation_id),
        primary_key=True,
        index=True,
        comment="The picture that showed it",
    ),
    sa.Column(
        "healed_at", sa.DateTime(timezone=True), nullable=False, comment="When the next delta was made to say it again"
    ),
    schema="ledger",
    comment="One row a drift that was healed; a drift that returns after several becomes a rejection",
)


def counts(connection: Connection, vendor: str, *, within_s: float) -> dict[tuple[str, str], int]:
    """How often each (SKU, field) of a vendor was healed of late."""
    statement = (
        sa.select(healing.c.sku, healing.c.field, sa.func.count())
        .where(healing.c.vendor == vendor, healing.c.healed_at > after(-within_s))
        .group_by(healing.c.sku, healing.c.field)
    )
    return {(row[0], row[1]): row[2] for row in connection.execute(statement)}


def remember(connection: Connection, vendor: str, observation_id: int, values: Iterable[tuple[str, str]]) -> None:
    """Notes healings of (SKU, field) that one picture led to; the same picture twice counts once."""
    rows = [{"vendor": vendor, "sku": sku, "field": name, "observation_id": observation_id} for sku, name in values]
    if rows:
        connection.execute(insert(healing).values(healed_at=instant()).on_conflict_do_nothing(), rows)
