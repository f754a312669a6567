"""Where nobody knows what the platform holds, the guards compare with the last that was known."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    op.add_column(
        "baseline",
        sa.Column(
            "known_path",
            sa.Text(),
            nullable=True,
            comment="Lake: the same SKUs with the last known value where it is unknown, for the guards; null: the state itself",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("baseline", "known_path", schema="ledger")
