"""Every decision about a hold is kept, with what was known when the question was asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.create_table(
        "decision",
        sa.Column(
            "decision_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the decision"
        ),
        sa.Column("hold_id", sa.BigInteger(), nullable=False, comment="The hold"),
        sa.Column("state", sa.Text(), nullable=False, comment="What the hold became: approved, rejected or expired"),
        sa.Column("decided_by", sa.Text(), nullable=False, comment="Who decided, or what"),
        sa.Column("why", sa.Text(), nullable=True, comment="The reason given, in one line"),
        sa.Column(
            "thresholds",
            JSONB(),
            nullable=True,
            comment="The thresholds that the person gave for this once; null: those of the question",
        ),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False, comment="When"),
        sa.CheckConstraint("state IN ('approved', 'rejected', 'expired')", name=op.f("ck_decision_state")),
        sa.ForeignKeyConstraint(["hold_id"], ["ledger.hold.hold_id"], name=op.f("fk_decision_hold_id")),
        sa.PrimaryKeyConstraint("decision_id", name=op.f("pk_decision")),
        schema="ledger",
        comment="One row a decision about a hold, by a person or by time; a later decision removes no earlier one",
    )
    op.create_index("ix_decision_hold_id", "decision", ["hold_id"], schema="ledger")
    op.execute(
        "INSERT INTO ledger.decision (hold_id, state, decided_by, why, decided_at)"
        " SELECT hold_id, state, coalesce(decided_by, 'unknown'), why, decided_at FROM ledger.hold"
        " WHERE state IN ('approved', 'rejected', 'expired') AND decided_at IS NOT NULL ORDER BY decided_at, hold_id"
    )
    op.add_column(
        "hold",
        sa.Column(
            "before_path",
            sa.Text(),
            nullable=True,
            comment="Lake: what was last known of these SKUs when they were held first; null: held by a version that did not keep it",
        ),
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_column("hold", "before_path", schema="ledger")
    op.drop_table("decision", schema="ledger")
