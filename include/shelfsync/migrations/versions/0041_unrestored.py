"""The guards know what a vendor would be without its restorations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    op.add_column(
        "vendor_run",
        sa.Column(
            "erp_path",
            sa.Text(),
            nullable=True,
            comment="Lake: canonical rows as the ERP says them, where a restoration lies over the snapshot; null: the snapshot is that",
        ),
        schema="ledger",
    )
    op.add_column(
        "vendor_run",
        sa.Column(
            "restorations",
            ARRAY(sa.BigInteger()),
            nullable=True,
            comment="The restorations that lie over the snapshot, oldest first; null: none",
        ),
        schema="ledger",
    )
    op.add_column(
        "feed",
        sa.Column(
            "unrestored_path",
            sa.Text(),
            nullable=True,
            comment="Lake: what would be acknowledged of some SKUs without restorations; null: no restoration makes a difference",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("feed", "unrestored_path", schema="ledger")
    op.drop_column("vendor_run", "restorations", schema="ledger")
    op.drop_column("vendor_run", "erp_path", schema="ledger")
