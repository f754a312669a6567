"""A refusal remembers the barcode that the SKU was called by, so that a corrected one lets it go."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0035"


def upgrade() -> None:
    op.add_column(
        "rejection",
        sa.Column("barcode", sa.Text(), nullable=True, comment="The barcode it had when it was refused; null: unknown"),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("rejection", "barcode", schema="ledger")
