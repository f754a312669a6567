"""What the platform does not take: a refusal remembers the barcode, a half its whole, a vendor its requests in vain."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.add_column(
        "rejection",
        sa.Column("barcode", sa.Text(), nullable=True, comment="The barcode it had when it was refused; null: unknown"),
        schema="ledger",
    )
    op.add_column(
        "batch",
        sa.Column(
            "halved_from",
            sa.BigInteger(),
            nullable=True,
            comment="The batch that brought nothing whole and of which this is a half, or what a later delta has for it; null: none",
        ),
        schema="ledger",
    )
    op.add_column(
        "vendor",
        sa.Column(
            "in_vain",
            sa.BigInteger(),
            nullable=False,
            server_default="0",
            comment="Requests in a row, up to now, that brought no word about any SKU: refused whole, or their job failed without a log",
        ),
        schema="ledger",
    )
    op.add_column(
        "vendor",
        sa.Column(
            "in_vain_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the last of them was known to be in vain",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("vendor", "in_vain_at", schema="ledger")
    op.drop_column("vendor", "in_vain", schema="ledger")
    op.drop_column("batch", "halved_from", schema="ledger")
    op.drop_column("rejection", "barcode", schema="ledger")
