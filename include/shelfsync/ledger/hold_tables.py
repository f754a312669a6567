"""The tables of what the guards hold, and of what was decided about it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.ledger import tables
from shelfsync.ledger.metadata import metadata


def _time(name: str, comment: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


hold = sa.Table(
    "hold",
    metadata,
    sa.Column("hold_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Number of the hold"),
    sa.Column("vendor", sa.Text, sa.ForeignKey(tables.vendor.c.vendor), nullable=False, comment="The vendor"),
    sa.Column("first_run_id", sa.BigInteger, nullable=False, comment="The run that held it first"),
    sa.Column("run_id", sa.BigInteger, nullable=False, comment="The newest run that holds the very same rows"),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Generation of the snapshot of that run"),
    sa.Column("rule", sa.Text, nullable=False, comment="The guard, by its word"),
    sa.Column("category", sa.Text, comment="The category it is about; null: the whole vendor"),
    sa.Column("message", sa.Text, nullable=False, comment="One sentence for the person who decides"),
    sa.Column("thresholds", JSONB, nullable=False, comment="The thresholds that were used"),
    sa.Column(
        "rows_path", sa.Text, nullable=False, comment="Lake: the rows held, with nothing in them but what is held"
    ),
    sa.Column(
        "before_path",
        sa.Text,
        comment="Lake: what was last known of these SKUs when they were held first; null: held by a version that did not keep it",
    ),
    sa.Column(
        "identity",
        sa.Text,
        comment="What makes it the same question in the next extract: its rows without the quantity of new products;"
        " null: held by a version that compared the whole rows",
    ),
    sa.Column("rows", sa.BigInteger, nullable=False, comment="How many"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="open",
        comment="open, approved, rejected, expired or superseded",
    ),
    sa.Column("asked_by", sa.Text, comment="The run of Airflow that asks about it; null: nobody was asked there"),
    sa.Column("decided_by", sa.Text, comment="Who decided, or what"),
    sa.Column("why", sa.Text, comment="The reason given, in one line"),
    sa.Column("superseded_by", sa.BigInteger, comment="The run whose extract does not have these rows any more"),
    _time("held_at", "When it was first held", nullable=False),
    _time("expires_at", "When waiting for a person ends", nullable=False),
    _time("decided_at", "When it was decided, superseded or expired"),
    _time("released_at", "When its rows were planned to be sent, after an approval"),
    _time(
        "spent_at",
        "When an extract no longer asked for anything that the approval let through; the approval ended then",
    ),
    sa.Index("ix_hold_vendor_state", "vendor", "state"),
    sa.Index("ix_hold_vendor", "vendor", "hold_id"),
    sa.CheckConstraint("state IN ('open', 'approved', 'rejected', 'expired', 'superseded')", name="state"),
    schema="ledger",
    comment="One row a slice that a guard held, with the decision; what is open or was rejected is never removed",
)

decision = sa.Table(
    "decision",
    metadata,
    sa.Column(
        "decision_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Number of the decision"
    ),
    sa.Column("hold_id", sa.BigInteger, sa.ForeignKey(hold.c.hold_id), nullable=False, index=True, comment="The hold"),
    sa.Column("state", sa.Text, nullable=False, comment="What the hold became: approved, rejected or expired"),
    sa.Column("decided_by", sa.Text, nullable=False, comment="Who decided, or what"),
    sa.Column("why", sa.Text, comment="The reason given, in one line"),
    sa.Column(
        "thresholds",
        JSONB,
        comment="The thresholds that the person gave for this once; null: those of the question",
    ),
    sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False, comment="When"),
    sa.CheckConstraint("state IN ('approved', 'rejected', 'expired')", name="state"),
    schema="ledger",
    comment="One row a decision about a hold, by a person or by time; a later decision removes no earlier one",
)
