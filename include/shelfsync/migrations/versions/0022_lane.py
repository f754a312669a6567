"""Batches have a lane, and say since when what they carry is wanted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    for table, schema, lane, count, words, since in (
        (
            "batch",
            "ledger",
            "stop_sell, price or catalog: its most urgent SKUs; the order of leaving, and the lane of the budget",
            "urgent_count",
            "SKUs in it that are of its lane; the others ride along",
            "When the ERP was first read since the vendor was last in step: nothing in it was seen earlier",
        ),
        (
            "catalog_job",
            "warehouse",
            "stop_sell, price or catalog: what its most urgent SKUs are",
            "urgent",
            "SKUs that are of its lane; the others rode along",
            "When the ERP was first read with what it carries; settled_at less this is the time to the acknowledgement",
        ),
    ):
        op.add_column(
            table,
            sa.Column("lane", sa.Text(), server_default="catalog", nullable=False, comment=lane),
            schema=schema,
        )
        op.add_column(
            table,
            sa.Column(count, sa.BigInteger(), server_default="0", nullable=False, comment=words),
            schema=schema,
        )
        op.add_column(
            table,
            sa.Column("wanted_at", sa.DateTime(timezone=True), nullable=True, comment=since),
            schema=schema,
        )


def downgrade() -> None:
    for table, schema, names in (
        ("catalog_job", "warehouse", ("wanted_at", "urgent", "lane")),
        ("batch", "ledger", ("wanted_at", "urgent_count", "lane")),
    ):
        for name in names:
            op.drop_column(table, name, schema=schema)
