"""An order of which the platform was asked in vain lets others go first, and a hand-over counts how often it was postponed; the first event is found by an index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    again = "When the platform, asked whose it is in vain, may be asked again; null: it was not asked in vain"
    op.add_column(
        "customer_order", sa.Column("ask_again_at", sa.DateTime(timezone=True), comment=again), schema="ledger"
    )
    looks = "How often it was postponed, also before anything was written"
    op.add_column(
        "hand_over",
        sa.Column("looks", sa.Integer, nullable=False, server_default="0", comment=looks),
        schema="ledger",
    )
    op.create_index(
        "ix_order_version_event",
        "order_version",
        ["seen_at"],
        schema="ledger",
        postgresql_where=sa.text("source = 'event'"),
    )
    op.alter_column(
        "order_alarm", "kind", comment="not_taken, missed, overdue, not_sent, unreadable or history", schema="ledger"
    )


def downgrade() -> None:
    op.alter_column(
        "order_alarm", "kind", comment="not_taken, missed, not_sent, unreadable or history", schema="ledger"
    )
    op.drop_index("ix_order_version_event", "order_version", schema="ledger")
    op.drop_column("hand_over", "looks", schema="ledger")
    op.drop_column("customer_order", "ask_again_at", schema="ledger")
