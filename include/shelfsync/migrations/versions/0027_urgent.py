"""A run may be about some SKUs alone; and what pictures betray of a vendor's sales buffers is kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.add_column(
        "run",
        sa.Column(
            "skus",
            sa.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="An urgent run sends these SKUs alone, so its end says nothing about the others; empty: every SKU",
        ),
        schema="ledger",
    )
    op.add_column(
        "vendor",
        sa.Column(
            "intervals_path",
            sa.Text(),
            nullable=True,
            comment="Lake: where the sales buffer of each SKU lies, as pictures have betrayed it; null: nothing was learned",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("vendor", "intervals_path", schema="ledger")
    op.drop_column("run", "skus", schema="ledger")
