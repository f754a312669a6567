"""Quantities that change nothing: spared between full syncs, and counted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column(
        "vendor_run",
        sa.Column(
            "spared_path",
            sa.Text(),
            nullable=True,
            comment="Lake: quantities that change nothing and wait for the full sync",
        ),
        schema="ledger",
    )
    op.add_column(
        "vendor_run",
        sa.Column(
            "changes_spared",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="SKUs whose quantity changed without effect: it waits for the full sync",
        ),
        schema="ledger",
    )
    op.add_column(
        "sync_run",
        sa.Column(
            "skus_spared",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="SKUs whose quantity changed without effect for a customer: it waits for the full sync",
        ),
        schema="warehouse",
    )


def downgrade() -> None:
    op.drop_column("sync_run", "skus_spared", schema="warehouse")
    op.drop_column("vendor_run", "changes_spared", schema="ledger")
    op.drop_column("vendor_run", "spared_path", schema="ledger")
