"""What is asked every minute and every day is found through an index, however many years the tables hold.

A function that may change from row to row cannot be looked for in an index; the present is one instant for a whole statement.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"

INDEXES = (
    ("ix_job_vendor", "job", ["vendor", "job_id"], None),
    ("ix_job_vendor_settled_at", "job", ["vendor", "settled_at"], None),
    ("ix_job_settled_at", "job", ["settled_at"], None),
    ("ix_hold_vendor", "hold", ["vendor", "hold_id"], None),
    ("ix_promotion_end_time", "promotion", ["end_time"], None),
    ("ix_order_day_day", "order_day", ["day"], None),
    ("ix_hand_over_dropped", "hand_over", ["order_id"], "state = 'dropped'"),
    ("ix_customer_order_cancellation_due", "customer_order", ["order_id"], "cancellation_due"),
    ("ix_picking_result_reply_due", "picking_result", ["result_no"], "reply_due"),
)
FLAGS = (
    (
        "customer_order",
        "cancellation_due",
        "True: it is cancelled, and telling the store is not planned yet, or it is not known yet whether one has to be told",
        """status = 'CANCELLED' AND NOT EXISTS (SELECT FROM ledger.hand_over AS h
        WHERE h.order_id = old.order_id AND h.kind = 'cancelled')""",
    ),
    (
        "picking_result",
        "reply_due",
        "True: it has ended, and telling the store is not planned yet",
        """state NOT IN ('waiting', 'sending', 'answered') AND NOT EXISTS (SELECT FROM ledger.hand_over AS h
        WHERE h.order_id = old.order_id AND h.kind = 'reply' AND h.result_no = old.result_no)""",
    ),
)


def upgrade() -> None:
    op.execute("ALTER FUNCTION ledger.instant() STABLE")
    for table, column, comment, due in FLAGS:
        flag: sa.Column[bool] = sa.Column(
            column, sa.Boolean(), server_default=sa.false(), nullable=False, comment=comment
        )
        op.add_column(table, flag, schema="ledger")
        op.execute(f"UPDATE ledger.{table} AS old SET {column} = true WHERE {due}")  # noqa: S608  words of this file
    for name, table, columns, where in INDEXES:
        op.create_index(name, table, columns, schema="ledger", postgresql_where=sa.text(where) if where else None)


def downgrade() -> None:
    for name, table, _, _ in reversed(INDEXES):
        op.drop_index(name, table, schema="ledger")
    for table, column, _, _ in FLAGS:
        op.drop_column(table, column, schema="ledger")
    op.execute("ALTER FUNCTION ledger.instant() VOLATILE")
