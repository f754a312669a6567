"""Outcomes that repeat what held already go after some days, and their job says how many they were."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

_REMOVED = "Rows of sku_outcome that housekeeping removed because they repeated what held already; null: none yet"
_OUTCOME = "What became of each SKU of each job: one row for every SKU sent (repeats go after some days, counted in catalog_job); by months"


def upgrade() -> None:
    op.add_column(
        "catalog_job",
        sa.Column("repeats_removed", sa.BigInteger(), nullable=True, comment=_REMOVED),
        schema="warehouse",
    )
    op.create_table_comment("sku_outcome", _OUTCOME, schema="warehouse")


def downgrade() -> None:
    op.create_table_comment(
        "sku_outcome",
        "What became of each SKU of each job: exactly one row for every SKU sent; by months, kept as set",
        schema="warehouse",
    )
    op.drop_column("catalog_job", "repeats_removed", schema="warehouse")
