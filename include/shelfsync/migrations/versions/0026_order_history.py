"""A page of the history that repeats the one before it is found out; a store that was never read is an alarm like any other."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_REPAIRED = "Those of which no event has come though there were events by then: the gaps"
_REPAIRED_BEFORE = "Those that only the history told of, after the first event ever"
_KINDS = "not_taken, missed, not_sent, unreadable or history"
_SUBJECT = "The store, or the result, it is about"


def upgrade() -> None:
    digest = "Hash of the orders of the page before the next; a page that repeats it is not to be trusted"
    op.add_column("order_history", sa.Column("page_digest", sa.Text, comment=digest), schema="ledger")
    op.add_column(
        "order_history",
        sa.Column(
            "since",
            sa.DateTime(timezone=True),
            nullable=False,
            server_default=sa.text("ledger.instant()"),
            comment="When this store's history was first asked for",
        ),
        schema="ledger",
    )
    op.execute(
        "UPDATE ledger.order_history SET since = coalesce((SELECT min(first_seen_at) FROM ledger.customer_order), since)"
    )
    op.alter_column("order_day", "repaired", comment=_REPAIRED, schema="ledger")
    op.alter_column("order_alarm", "kind", comment=_KINDS, schema="ledger")
    op.alter_column("order_alarm", "subject", comment=_SUBJECT, schema="ledger")


def downgrade() -> None:
    op.alter_column("order_alarm", "subject", comment="The store it is about", schema="ledger")
    op.alter_column("order_alarm", "kind", comment="not_taken, not_sent or history", schema="ledger")
    op.alter_column("order_day", "repaired", comment=_REPAIRED_BEFORE, schema="ledger")
    op.drop_column("order_history", "since", schema="ledger")
    op.drop_column("order_history", "page_digest", schema="ledger")
