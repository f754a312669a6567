"""An approval is for once: it ends when nothing is left for it to let through."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    op.add_column(
        "hold",
        sa.Column(
            "spent_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When an extract no longer asked for anything that the approval let through; the approval ended then",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("hold", "spent_at", schema="ledger")
