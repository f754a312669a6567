"""Results of an order are worked on under a lease, as a vendor's jobs are; the claim that ran out by itself goes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"

_BOTH = "The vendor whose jobs it is about, or order:ID, the order whose results"


def upgrade() -> None:
    op.drop_column("picking_result", "claimed_until", schema="ledger")
    op.alter_column("lease", "vendor", comment=_BOTH, schema="ledger")


def downgrade() -> None:
    op.alter_column("lease", "vendor", comment="The vendor whose jobs it is about", schema="ledger")
    op.add_column(
        "picking_result",
        sa.Column(
            "claimed_until",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Until when one process alone works on it",
        ),
        schema="ledger",
    )
