"""Exports that nobody has ended are found without a look at those of years."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    op.create_index(
        "ix_export_unended",
        "export",
        ["deadline_at"],
        schema="ledger",
        postgresql_where=sa.text("state NOT IN ('reconciled', 'failed')"),
    )


def downgrade() -> None:
    op.drop_index("ix_export_unended", "export", schema="ledger")
