"""A run that one process does from beginning to end is known by its session lock to be alive."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    op.add_column(
        "run",
        sa.Column(
            "one_process",
            sa.Boolean(),
            nullable=False,
            server_default=sa.false(),
            comment="True: one process does all of it, holds the run's session lock all the while, and the run ends with it",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("run", "one_process", schema="ledger")
