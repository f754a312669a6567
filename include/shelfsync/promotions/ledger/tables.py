"""The ledger of promotions: runs, promotions and their acknowledged state, requests, and rejections.

Large things (entries, items, bodies) are files of the lake; a row here holds their path.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shelfsync.platform.jobs import table as _jobs  # noqa: F401  foreign keys name its table
from shelfsync.store.metadata import (
    boolean,
    count,
    flag,
    identity,
    lake_file,
    line,
    metadata,
    moment,
    number,
    text,
    written,
)

promotion_run = sa.Table(
    "promotion_run",
    metadata,
    identity(
        "run_id", "shelfsync's number of the run; a later run has a higher one, and nothing older is planned after it"
    ),
    text("run_key", "DAG and run id, or the command line's own name", nullable=False, unique=True),
    flag("dry_run", "True: plan only"),
    text(
        "state",
        "running, planned, succeeded, partly_failed, failed or superseded",
        nullable=False,
        server_default="running",
    ),
    line("error", "The first line a person should read, when it did not succeed"),
    number("generation", "Order of its extract among all; null: not read yet"),
    lake_file("manifest_path", "Lake: the files of the extract, by vendor"),
    text("proof", "How completeness of the extract was proven, in words"),
    boolean("complete", "True: what is absent from the extract is absent from the ERP"),
    sa.Column("report", JSONB, comment="Report of the plan for the operator: counts and lines"),
    moment("planned_at", "When its requests were committed"),
    written("started_at", "When it was opened"),
    moment("finished_at", "When it ended, to the first report of this state"),
    sa.CheckConstraint(
        "state IN ('running', 'planned', 'succeeded', 'partly_failed', 'failed', 'superseded')", name="state"
    ),
    schema="ledger",
    comment="One row a run of the promotions' path",
)

promotion = sa.Table(
    "promotion",
    metadata,
    identity("promotion_id", "shelfsync's number of the promotion"),
    text(
        "identity",
        "Hash of display name, vendors, start and end: the platform identifies a promotion by these",
        nullable=False,
        unique=True,
    ),
    text("campaign", "The ERP's identifier of the campaign", nullable=False, index=True),
    sa.Column("header", JSONB, nullable=False, comment="What all its SKUs share, as it was acknowledged last"),
    sa.Column("vendors", ARRAY(sa.Text), nullable=False, comment="Its vendors; * alone: all of the chain"),
    moment("start_time", "From when it runs", nullable=False),
    moment("end_time", "Until when it runs", nullable=False),
    text(
        "state",
        "new: never confirmed; sent: the platform has it, or may have it; failed: the platform rejected it; ended: shelfsync ended it",
        nullable=False,
        server_default="new",
    ),
    count("version", "Grows by one with each change of the acknowledged state"),
    lake_file("acknowledged_path", "Lake: SKUs and discounts that the platform has acknowledged"),
    lake_file("wanted_path", "Lake: entries of the last plan that was acknowledged whole; equal: nothing to do"),
    lake_file("created_body_path", "Lake: the body of its creation, byte for byte, with which it is ended"),
    count("created_body_bytes", "Its length"),
    count("failures", "Consecutive requests about it that failed without a reason"),
    moment("retry_at", "Not to be tried again before"),
    flag("made_elsewhere", "True: the platform answered its first request DUPLICATE, so another system created it"),
    written("created_at", "When it was first planned"),
    moment("confirmed_at", "When the platform first confirmed it"),
    moment("ended_at", "When the platform confirmed its end by shelfsync"),
    sa.CheckConstraint("state IN ('new', 'sent', 'failed', 'ended')", name="state"),
    sa.Index("ix_promotion_end_time", "end_time"),
    sa.CheckConstraint("start_time < end_time", name="window"),
    schema="ledger",
    comment="One row a promotion that was ever planned, with its acknowledged state",
)

promotion_request = sa.Table(
    "promotion_request",
    metadata,
    identity("request_id", "shelfsync's number of the request"),
    number("promotion_id", "The promotion", sa.ForeignKey("ledger.promotion.promotion_id"), nullable=False, index=True),
    number(
        "run_id", "The run that planned it", sa.ForeignKey("ledger.promotion_run.run_id"), nullable=False, index=True
    ),
    text("action", "create, change or end", nullable=False),
    sa.Column(
        "piece", sa.Integer, nullable=False, comment="Place among the requests of this promotion and run, from 1"
    ),
    sa.Column("pieces", sa.Integer, nullable=False, comment="How many there are"),
    sa.Column("header", JSONB, nullable=False, comment="What all SKUs of the request share"),
    lake_file("items_path", "Lake: the SKUs and the values sent of each; null: an end"),
    lake_file("wanted_path", "Lake: all entries of the promotion as the plan wants them"),
    lake_file("body_path", "Lake: the body, byte for byte; an end sends it with active false", nullable=False),
    number("body_bytes", "Length of the request as it is sent", nullable=False),
    count("skus", "SKUs in it"),
    count("vendors", "Vendors it is for"),
    sa.Index("uq_promotion_request_piece", "promotion_id", "run_id", "action", "piece", unique=True),
    sa.CheckConstraint("action IN ('create', 'change', 'end')", name="action"),
    schema="ledger",
    comment="One row a request about a promotion; its job has its state",
)

promotion_rejection = sa.Table(
    "promotion_rejection",
    metadata,
    number("promotion_id", "The promotion", sa.ForeignKey("ledger.promotion.promotion_id"), primary_key=True),
    text("vendor", "The vendor", primary_key=True),
    text("sku", "The SKU", primary_key=True),
    line("reason", "Which list of the platform named it", nullable=False),
    text("subtype", "The discount wanted when it was rejected", nullable=False),
    sa.Column("value", sa.Numeric(20, 3), nullable=False, comment="The discount wanted when it was rejected"),
    number("max_quantity", "The discount wanted when it was rejected"),
    sa.Column("base_price", sa.Numeric(20, 3), comment="The base price known then; another one releases it"),
    flag("known", "Whether the vendor had the SKU then, as far as shelfsync knew"),
    number(
        "job_id",
        "The job in which it was rejected last",
        sa.ForeignKey("ledger.job.job_id"),
        nullable=False,
        index=True,
    ),
    count("times", "How often it was rejected"),
    written("last_at", "When it was last rejected"),
    sa.Index("ix_promotion_rejection_vendor", "vendor", "sku"),
    schema="ledger",
    comment="Pairs that the platform rejected: not sent again until price, base price or assortment change, or a day has passed",
)

promotion_fence = sa.Table(
    "promotion_fence",
    metadata,
    boolean("one", "There is one row", primary_key=True, server_default=sa.true()),
    count("generation", "Highest generation that was planned"),
    sa.CheckConstraint("one", name="one"),
    schema="ledger",
    comment="The order of plans: nothing older than the newest is planned any more (I4, I5)",
)

promotion_generation = sa.Sequence("promotion_generation", metadata=metadata, schema="ledger")
"""The order of extracts: a later one has a higher number, whatever any clock shows (I17)."""
