"""A run may be about some SKUs alone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


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


def downgrade() -> None:
    op.drop_column("run", "skus", schema="ledger")
