"""What cannot be processed is set aside with its reason: events of the inbox and picking results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

_STATES = ("waiting", "sending", "answered", "done", "checked", "refused", "overtaken")
_SENT = "waiting, sending (may be with the platform), answered (the platform said yes), done, checked, refused"
_OLD_TIME = "When its consequences were drawn; null: not yet, or again"
_NEW_TIME = "When its consequences were drawn, or it was set aside; null: not yet, or again"
_KINDS = "not_taken, missed, overdue, not_sent, unreadable"


def upgrade() -> None:
    why = "Why it could not be processed; its body stays whole until it is replayed; null: it could"
    op.add_column("event", sa.Column("set_aside", sa.Text(), nullable=True, comment=why), schema="inbox")
    op.alter_column("event", "processed_at", comment=_NEW_TIME, existing_comment=_OLD_TIME, schema="inbox")
    set_aside = sa.text("set_aside IS NOT NULL")
    op.create_index("ix_event_set_aside", "event", ["kind", "event_id"], schema="inbox", postgresql_where=set_aside)
    _states(*_STATES, "set_aside", comment=f"{_SENT}, overtaken or set_aside (it could not be worked on)")
    op.create_index(
        "ix_picking_result_set_aside",
        "picking_result",
        ["result_no"],
        schema="ledger",
        postgresql_where=sa.text("state = 'set_aside'"),
    )
    op.alter_column("order_alarm", "kind", comment=f"{_KINDS}, set_aside or history", schema="ledger")


def downgrade() -> None:
    op.alter_column("order_alarm", "kind", comment=f"{_KINDS} or history", schema="ledger")
    op.drop_index("ix_picking_result_set_aside", "picking_result", schema="ledger")
    op.execute("UPDATE ledger.picking_result SET state = 'waiting' WHERE state = 'set_aside'")
    _states(*_STATES, comment=f"{_SENT} or overtaken")
    op.drop_index("ix_event_set_aside", "event", schema="inbox")
    op.alter_column("event", "processed_at", comment=_OLD_TIME, existing_comment=_NEW_TIME, schema="inbox")
    op.drop_column("event", "set_aside", schema="inbox")


def _states(*states: str, comment: str) -> None:
    named = ", ".join(f"'{state}'" for state in states)
    op.drop_constraint(op.f("ck_picking_result_state"), "picking_result", schema="ledger")
    op.create_check_constraint(
        op.f("ck_picking_result_state"), "picking_result", f"state IN ({named})", schema="ledger"
    )
    op.alter_column("picking_result", "state", comment=comment, schema="ledger")
