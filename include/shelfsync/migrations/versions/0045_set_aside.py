"""An event of a job that cannot count is set aside with its reason, and one from before the request cannot be about the job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0042"

AFTER = "Newest event of the inbox when the row was committed; an event up to it cannot be about this job"


def upgrade() -> None:
    op.add_column(
        "event",
        sa.Column("set_aside", sa.Text(), nullable=True, comment="Jobs: why the event does not count; null: it may"),
        schema="inbox",
    )
    for table in ("job", "export"):
        op.add_column(table, sa.Column("after_event", sa.BigInteger(), nullable=True, comment=AFTER), schema="ledger")


def downgrade() -> None:
    for table in ("job", "export"):
        op.drop_column(table, "after_event", schema="ledger")
    op.drop_column("event", "set_aside", schema="inbox")
