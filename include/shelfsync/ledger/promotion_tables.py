"""What the ledger knows of promotions: runs, what the platform was told, the requests about it, refusals, and what is held for a person.

Large things (entries, items, bodies) are files of the lake; a row here holds their path.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shelfsync.ledger.metadata import metadata

OPEN_STATES = ("submitting", "open")
"""The platform has, or may have, the request, and nothing is known of its outcome."""

_now = sa.text("ledger.instant()")


def _id(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, sa.Identity(always=True), primary_key=True, comment=comment)


def _time(name: str, comment: str, *, nullable: bool = True) -> sa.Column[object]:
    default = None if nullable else _now
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default, comment=comment)


def _count(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


promotion_run = sa.Table(
    "promotion_run",
    metadata,
    _id("run_id", "Our number of the run; a later run has a higher one, and nothing older is planned after it"),
    sa.Column(
        "run_key", sa.Text, nullable=False, unique=True, comment="DAG and run id, or the command line's own name"
    ),
    sa.Column("dry_run", sa.Boolean, nullable=False, server_default=sa.false(), comment="True: plan only"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="running",
        comment="running, planned, succeeded, partly_failed, failed or superseded",
    ),
    sa.Column("error", sa.Text, comment="The first line a person should read, when it did not succeed"),
    sa.Column("generation", sa.BigInteger, comment="Order of its extract among all; null: not read yet"),
    sa.Column("manifest_path", sa.Text, comment="Lake: the files of the extract, by vendor"),
    sa.Column("proof", sa.Text, comment="How completeness of the extract was proven, in words"),
    sa.Column("complete", sa.Boolean, comment="True: what is absent from the extract is absent from the ERP"),
    sa.Column("told", JSONB, comment="What a person should be told of the plan: counts and lines"),
    _time("planned_at", "When its requests were committed"),
    _time("started_at", "When it was opened", nullable=False),
    _time("finished_at", "When it was reported"),
    sa.CheckConstraint(
        "state IN ('running', 'planned', 'succeeded', 'partly_failed', 'failed', 'superseded')", name="state"
    ),
    schema="ledger",
    comment="One row a run of the promotions' path",
)

promotion = sa.Table(
    "promotion",
    metadata,
    _id("promotion_id", "Our number of the promotion"),
    sa.Column(
        "identity",
        sa.Text,
        nullable=False,
        unique=True,
        comment="Hash of display name, vendors, start and end: what the platform tells promotions apart by",
    ),
    sa.Column("campaign", sa.Text, nullable=False, index=True, comment="The ERP's identifier of the campaign"),
    sa.Column("header", JSONB, nullable=False, comment="What all its SKUs share, as it was told last"),
    sa.Column("vendors", ARRAY(sa.Text), nullable=False, comment="Its vendors; * alone: all of the chain"),
    _time("start_time", "From when it runs", nullable=False),
    _time("end_time", "Until when it runs", nullable=False),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="new",
        comment="new: never confirmed; told: the platform has it, or may; failed: it was refused; ended: we ended it",
    ),
    sa.Column(
        "version",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="Grows by one whenever what was told moves",
    ),
    sa.Column("told_path", sa.Text, comment="Lake: SKUs and discounts that the platform holds, as far as it said so"),
    sa.Column(
        "wanted_path",
        sa.Text,
        comment="Lake: entries of the last plan that was acknowledged whole; equal: nothing to do",
    ),
    sa.Column(
        "created_body_path", sa.Text, comment="Lake: the body of its creation, byte for byte, with which it is ended"
    ),
    _count("created_body_bytes", "Its length"),
    _count("failures", "Requests about it in a row of which nobody knows why they failed"),
    _time("retry_at", "Not to be tried again before"),
    sa.Column(
        "made_elsewhere",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="True: its first request came back DUPLICATE, so somebody else made it",
    ),
    _time("created_at", "When it was first planned", nullable=False),
    _time("told_at", "When the platform first confirmed it"),
    _time("ended_at", "When the platform confirmed that we ended it"),
    sa.CheckConstraint("state IN ('new', 'told', 'failed', 'ended')", name="state"),
    sa.Index("ix_promotion_end_time", "end_time"),
    sa.CheckConstraint("start_time < end_time", name="window"),
    schema="ledger",
    comment="One row a promotion that was ever planned, and what the platform was told of it",
)

promotion_job = sa.Table(
    "promotion_job",
    metadata,
    _id("job_id", "Our number of the request and its job"),
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.promotion.promotion_id"),
        nullable=False,
        index=True,
        comment="The promotion",
    ),
    sa.Column(
        "run_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.promotion_run.run_id"),
        nullable=False,
        index=True,
        comment="The run that planned it",
    ),
    sa.Column("action", sa.Text, nullable=False, comment="create, change or end"),
    sa.Column(
        "piece", sa.Integer, nullable=False, comment="Place among the requests of this promotion and run, from 1"
    ),
    sa.Column("pieces", sa.Integer, nullable=False, comment="How many there are"),
    sa.Column("header", JSONB, nullable=False, comment="What all SKUs of the request share"),
    sa.Column("items_path", sa.Text, comment="Lake: the SKUs and what is said of each; null: an end"),
    sa.Column("wanted_path", sa.Text, comment="Lake: all entries of the promotion as the plan wants them"),
    sa.Column(
        "body_path", sa.Text, nullable=False, comment="Lake: the body, byte for byte; an end sends it with active false"
    ),
    sa.Column("body_bytes", sa.BigInteger, nullable=False, comment="Length of the request as it is sent"),
    _count("skus", "SKUs in it"),
    _count("vendors", "Vendors it is for"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        server_default="planned",
        comment="planned, submitting, open, acknowledged, refused, unconfirmed or superseded",
    ),
    sa.Column("platform_job_id", sa.Text, comment="The platform's number of the job"),
    sa.Column("platform_status", sa.Text, comment="The platform's own word, as last heard"),
    sa.Column("result_path", sa.Text, comment="Lake: the lists of the status call"),
    _count("attempts", "How often the request left"),
    _count("polls", "How often the platform was asked about it"),
    _count("sent", "Pairs of SKU and vendor in it"),
    sa.Column("accepted", sa.BigInteger, comment="Pairs the platform took"),
    sa.Column("refused", sa.BigInteger, comment="Pairs it named in a list"),
    sa.Column("unaccounted", sa.BigInteger, comment="Pairs of which nobody knows"),
    sa.Column("error", sa.Text, comment="Why it did not end well, in one line"),
    _time("created_at", "When the row was committed, before anything was sent", nullable=False),
    _time("answered_at", "When the platform's 202 was read"),
    _time("next_poll_at", "When to ask about it"),
    _time("deadline_at", "When waiting ends"),
    _time("settled_at", "When its outcome was known or given up"),
    sa.Index(
        "ix_promotion_job_open", "promotion_id", postgresql_where=sa.text("state IN ('planned', 'submitting', 'open')")
    ),
    sa.Index("uq_promotion_job_piece", "promotion_id", "run_id", "action", "piece", unique=True),
    sa.Index(
        "uq_promotion_job_platform_job_id",
        "platform_job_id",
        unique=True,
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    ),
    sa.CheckConstraint("action IN ('create', 'change', 'end')", name="action"),
    sa.CheckConstraint(
        "state IN ('planned', 'submitting', 'open', 'acknowledged', 'refused', 'unconfirmed', 'superseded')",
        name="state",
    ),
    sa.CheckConstraint("accepted IS NULL OR sent = accepted + refused + unaccounted", name="conservation"),
    schema="ledger",
    comment="One row a request about a promotion, committed before it leaves",
)

promotion_rejection = sa.Table(
    "promotion_rejection",
    metadata,
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.promotion.promotion_id"),
        primary_key=True,
        comment="The promotion",
    ),
    sa.Column("vendor", sa.Text, primary_key=True, comment="The vendor"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU"),
    sa.Column("reason", sa.Text, nullable=False, comment="Which list of the platform named it"),
    sa.Column("subtype", sa.Text, nullable=False, comment="The discount wanted when it was refused"),
    sa.Column("value", sa.Numeric(20, 3), nullable=False, comment="The discount wanted when it was refused"),
    sa.Column("max_quantity", sa.BigInteger, comment="The discount wanted when it was refused"),
    sa.Column("base_price", sa.Numeric(20, 3), comment="The base price known then; another one releases it"),
    sa.Column(
        "known",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="Whether the vendor had the SKU then, as far as we knew",
    ),
    sa.Column(
        "job_id",
        sa.BigInteger,
        sa.ForeignKey("ledger.promotion_job.job_id"),
        nullable=False,
        index=True,
        comment="The job that refused it last",
    ),
    _count("times", "How often it was refused"),
    _time("last_at", "When it was last refused", nullable=False),
    sa.Index("ix_promotion_rejection_vendor", "vendor", "sku"),
    schema="ledger",
    comment="Pairs the platform refused: not repeated until price, base price or assortment change, or a day has passed",
)

promotion_hold = sa.Table(
    "promotion_hold",
    metadata,
    _id("hold_id", "Number of the hold"),
    sa.Column("campaign", sa.Text, nullable=False, comment="The campaign"),
    sa.Column("rule", sa.Text, nullable=False, comment="discount, below_cost, assortment or ended"),
    sa.Column("vendor", sa.Text, nullable=False, comment="The vendor; empty: all"),
    sa.Column(
        "fingerprint", sa.Text, nullable=False, comment="Hash of exactly what is held; a release is for nothing else"
    ),
    sa.Column("skus", sa.BigInteger, nullable=False, comment="SKUs held"),
    sa.Column("message", sa.Text, nullable=False, comment="What a person has to decide, in a sentence"),
    sa.Column("state", sa.Text, nullable=False, server_default="held", comment="held, released, refused or gone"),
    sa.Column("decided_by", sa.Text, comment="Who released or refused it"),
    _time("decided_at", "When"),
    _time("first_at", "When it was first held", nullable=False),
    _time("last_at", "When a run last found it", nullable=False),
    sa.UniqueConstraint("fingerprint"),
    sa.Index("ix_promotion_hold_held", "campaign", postgresql_where=sa.text("state = 'held'")),
    sa.CheckConstraint("state IN ('held', 'released', 'refused', 'gone')", name="state"),
    schema="ledger",
    comment="Slices of campaigns that a guard keeps back until a person has decided about exactly them",
)

promotion_fence = sa.Table(
    "promotion_fence",
    metadata,
    sa.Column("one", sa.Boolean, primary_key=True, server_default=sa.true(), comment="There is one row"),
    sa.Column(
        "generation", sa.BigInteger, nullable=False, server_default="0", comment="Highest generation that was planned"
    ),
    sa.CheckConstraint("one", name="one"),
    schema="ledger",
    comment="The order of plans: nothing older than the newest is planned any more (I4, I5)",
)

promotion_generation = sa.Sequence("promotion_generation", metadata=metadata, schema="ledger")
"""The order of extracts: a later one has a higher number, whatever any clock says (I17)."""
