"""The tables of holds and of the decisions about them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.catalog.ledger import tables
from shelfsync.catalog.state import HoldState
from shelfsync.store.metadata import LAKE_FILE, metadata, moment, one_of

hold = sa.Table(
    "hold",
    metadata,
    sa.Column("hold_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Number of the hold"),
    sa.Column("vendor", sa.Text, sa.ForeignKey(tables.vendor.c.vendor), nullable=False, comment="The vendor"),
    sa.Column("first_run_id", sa.BigInteger, nullable=False, comment="The run that held it first"),
    sa.Column("run_id", sa.BigInteger, nullable=False, comment="The newest run that holds the very same rows"),
    sa.Column("generation", sa.BigInteger, nullable=False, comment="Generation of the snapshot of that run"),
    sa.Column("rule", sa.Text, nullable=False, comment="The guard's name"),
    sa.Column("category", sa.Text, comment="The category it is about; null: the whole vendor"),
    sa.Column("message", sa.Text, nullable=False, comment="One sentence for the person who decides"),
    sa.Column("thresholds", JSONB, nullable=False, comment="The thresholds that were used"),
    sa.Column(
        "rows_path",
        sa.Text,
        nullable=False,
        info=LAKE_FILE,
        comment="Lake: the held rows, with the held fields only",
    ),
    sa.Column(
        "before_path",
        sa.Text,
        info=LAKE_FILE,
        comment="Lake: the last known values of these SKUs when the hold began; null: an older version did not record them",
    ),
    sa.Column(
        "identity",
        sa.Text,
        comment="Key of the question in the next extract: its rows without the quantity of new products;"
        " null: held by a version that compared the whole rows",
    ),
    sa.Column("rows", sa.BigInteger, nullable=False, comment="Number of rows"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default=HoldState.OPEN,
        comment="open, approved, declined, expired or superseded",
    ),
    sa.Column("asked_by", sa.Text, comment="The run of Airflow that asks about it; null: no run asks"),
    sa.Column("decided_by", sa.Text, comment="The person or the rule that decided"),
    sa.Column("why", sa.Text, comment="The reason given, in one line"),
    sa.Column("superseded_by", sa.BigInteger, comment="The run whose extract does not have these rows any more"),
    moment("held_at", "When it was first held", nullable=False),
    moment("expires_at", "When shelfsync stops waiting for a person", nullable=False),
    moment("decided_at", "When it was decided, superseded or expired"),
    moment("released_at", "When its rows were planned to be sent, after an approval"),
    moment(
        "spent_at",
        "When an extract no longer asked for anything that the approval let through; the approval ended then",
    ),
    sa.Index("ix_hold_vendor_state", "vendor", "state"),
    sa.Index("ix_hold_vendor", "vendor", "hold_id"),
    sa.CheckConstraint(one_of(HoldState), name="state"),
    schema="ledger",
    comment="One row a hold, with the decision; an open or declined hold is never removed",
)

decision = sa.Table(
    "decision",
    metadata,
    sa.Column(
        "decision_id", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Number of the decision"
    ),
    sa.Column("hold_id", sa.BigInteger, sa.ForeignKey(hold.c.hold_id), nullable=False, index=True, comment="The hold"),
    sa.Column("state", sa.Text, nullable=False, comment="What the hold became: approved, declined or expired"),
    sa.Column("decided_by", sa.Text, nullable=False, comment="The person or the rule that decided"),
    sa.Column("why", sa.Text, comment="The reason given, in one line"),
    sa.Column(
        "thresholds",
        JSONB,
        comment="The thresholds that the person gave for this decision; null: those of the hold",
    ),
    sa.Column("decided_at", sa.DateTime(timezone=True), nullable=False, comment="When"),
    sa.CheckConstraint(one_of((HoldState.APPROVED, HoldState.DECLINED, HoldState.EXPIRED)), name="state"),
    schema="ledger",
    comment="One row a decision about a hold, by a person or by expiry; a later decision removes no earlier one",
)
