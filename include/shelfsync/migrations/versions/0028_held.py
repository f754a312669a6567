"""Holds that are settled go with the rest of a year's history; what is open or rejected stays."""

from __future__ import annotations

from alembic import op

revision = "0028"
down_revision = "0027"

_HOLD = "One row a slice that a guard held, with the decision; "


def upgrade() -> None:
    op.create_table_comment("hold", _HOLD + "what is open or was rejected is never removed", schema="ledger")


def downgrade() -> None:
    op.create_table_comment("hold", _HOLD + "nothing is ever removed", schema="ledger")
