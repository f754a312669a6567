"""A hold is told again by what a person decides about, not by quantities that every sale moves."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.add_column(
        "hold",
        sa.Column(
            "identity",
            sa.Text(),
            nullable=True,
            comment="What makes it the same question in the next extract: its rows without the quantity of new products;"
            " null: held by a version that compared the whole rows",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("hold", "identity", schema="ledger")
