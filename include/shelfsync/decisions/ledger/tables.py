"""Tables of what guards hold, and of every act about it.

The rows that are held are in files of the lake; a row here holds the path.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.decisions.state import HoldState, Place, Subject
from shelfsync.store.metadata import identity, lake_file, line, metadata, moment, number, one_of, text

_IN_FORCE = sa.text("state IN ('open', 'declined', 'expired') AND superseded_by IS NULL")
"""The holds whose rows are held now."""

hold = sa.Table(
    "hold",
    metadata,
    identity("hold_id", "Number of the hold"),
    text("subject", "What is held: changes of the catalog, or promotions", nullable=False),
    text("vendor", "The vendor; * alone: all of the chain", nullable=False),
    number("first_run_id", "The run of the subject that held it first", nullable=False),
    number("run_id", "The newest run that holds the very same rows", nullable=False),
    number("generation", "Generation of the snapshot of that run", nullable=False),
    text("rule", "The guard's name", nullable=False),
    text("category", "The category it is about; null: the whole vendor"),
    text("campaign", "The campaign of the ERP it is about; null: it is about the catalog"),
    line("message", "One sentence for the person who decides", nullable=False),
    sa.Column("thresholds", JSONB, nullable=False, comment="The thresholds that were used"),
    lake_file("rows_path", "Lake: the held rows, with the held fields only", nullable=False),
    lake_file(
        "before_path",
        "Lake: the last known values of these SKUs when the hold began; null: an older version did not record them",
    ),
    text(
        "identity",
        "Key of the question in the next extract: its rows without the quantity of new products;"
        " null: held by a version that compared the whole rows",
    ),
    number("rows", "Number of rows", nullable=False),
    text("state", "open, approved, declined, expired or superseded", nullable=False, server_default=HoldState.OPEN),
    text("asked_by", "The run of Airflow that asks about it; null: no run asks"),
    moment("looked_at", "When that run looked last whether it is decided; null: no run asks"),
    text("decided_by", "The person or the rule that decided"),
    line("why", "The reason given, in one line"),
    number("superseded_by", "The run whose extract does not have these rows any more"),
    moment("held_at", "When it was first held", nullable=False),
    moment("expires_at", "When shelfsync stops waiting for a person", nullable=False),
    moment("decided_at", "When it was decided, superseded or expired"),
    moment("released_at", "When its rows were planned to be sent, after an approval"),
    number("acts", "How often it was decided or reopened", nullable=False, server_default="0"),
    moment(
        "spent_at",
        "When an extract no longer asked for anything that the approval let through; the approval ended then",
    ),
    sa.Index("ix_hold_state_vendor", "state", "vendor"),
    sa.Index("ix_hold_asked_by", "asked_by", postgresql_where=sa.text("asked_by IS NOT NULL")),
    sa.Index("ix_hold_vendor", "vendor", "subject", "hold_id"),
    sa.Index("ix_hold_in_force", "vendor", "subject", postgresql_where=_IN_FORCE),
    sa.CheckConstraint(one_of(HoldState), name="state"),
    sa.CheckConstraint(one_of(Subject, "subject"), name="subject"),
    schema="ledger",
    comment="One row a hold, with the decision; an open or declined hold is never removed",
)

decision = sa.Table(
    "decision",
    metadata,
    identity("decision_id", "Number of the decision"),
    number("hold_id", "The hold", sa.ForeignKey(hold.c.hold_id), nullable=False, index=True),
    text(
        "state", "What the hold became, or was to become: approved, declined, expired; open: reopened", nullable=False
    ),
    text("decided_by", "The person or the rule that decided", nullable=False),
    text("place", "Where the answer was given: page, command line, Airflow; shelfsync: by no person", nullable=False),
    line("why", "The reason given, in one line"),
    text("ignored", "Why a late answer did nothing; null: it was applied"),
    sa.Column(
        "thresholds",
        JSONB,
        comment="The thresholds that the person gave for this decision; null: those of the hold",
    ),
    moment("decided_at", "When", nullable=False),
    sa.CheckConstraint(
        one_of((HoldState.OPEN, HoldState.APPROVED, HoldState.DECLINED, HoldState.EXPIRED)), name="state"
    ),
    sa.CheckConstraint(one_of(Place, "place"), name="place"),
    schema="ledger",
    comment="One row an act about a hold: a decision by a person or by expiry, a reopening, or an answer that came too late",
)
