"""A run that passed a vendor over has a state of its own: it is no plain success."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"

STATES = "'running', 'succeeded', 'partly', 'partly_failed', 'failed'"


def upgrade() -> None:
    op.drop_constraint(op.f("ck_run_state"), "run", schema="ledger")
    op.create_check_constraint(op.f("ck_run_state"), "run", f"state IN ({STATES})", schema="ledger")
    op.alter_column(
        "run",
        "state",
        comment="running, succeeded, partly (a vendor was passed over), partly_failed or failed",
        schema="ledger",
    )
    op.alter_column(
        "sync_run", "state", comment="running, succeeded, partly, partly_failed or failed", schema="warehouse"
    )


def downgrade() -> None:
    op.execute(sa.text("UPDATE ledger.run SET state = 'succeeded' WHERE state = 'partly'"))
    op.drop_constraint(op.f("ck_run_state"), "run", schema="ledger")
    op.create_check_constraint(
        op.f("ck_run_state"), "run", "state IN ('running', 'succeeded', 'partly_failed', 'failed')", schema="ledger"
    )
    op.alter_column("run", "state", comment="running, succeeded, partly_failed or failed", schema="ledger")
    op.alter_column("sync_run", "state", comment="running, succeeded, partly_failed or failed", schema="warehouse")
