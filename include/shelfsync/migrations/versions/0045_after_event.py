"""A request knows the events that came before it: none of them can be about its job."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0043"

AFTER = "Newest event of the inbox when the row was committed; an event up to it cannot be about this job"


def upgrade() -> None:
    for table in ("job", "export"):
        op.add_column(table, sa.Column("after_event", sa.BigInteger(), nullable=True, comment=AFTER), schema="ledger")


def downgrade() -> None:
    for table in ("job", "export"):
        op.drop_column(table, "after_event", schema="ledger")
