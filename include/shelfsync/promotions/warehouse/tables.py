"""Promotions in the warehouse: the promotions of each vendor with their prices, every request, its outcomes, and the findings against the catalog."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.store.metadata import count, metadata, moment

promotion_run = sa.Table(
    "promotion_run",
    metadata,
    sa.Column("run_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Number of the run"),
    sa.Column("run_key", sa.Text, nullable=False, comment="DAG and run id, or the command line's own name"),
    sa.Column("dry_run", sa.Boolean, nullable=False, comment="True: nothing was sent"),
    sa.Column(
        "state", sa.Text, nullable=False, comment="running, planned, succeeded, partly_failed, failed or superseded"
    ),
    sa.Column("error", sa.Text, comment="The first error to read"),
    moment("started_at", "When it began", nullable=False),
    moment("finished_at", "When it ended"),
    count("rows", "Rows read from the ERP"),
    count("rows_quarantined", "Rows that could not be sent"),
    count("promotions", "Promotions that the ERP wants"),
    count("pairs", "Pairs of SKU and vendor that it wants"),
    count("held", "Pairs that a guard held"),
    count("created", "Promotions planned to be created"),
    count("changed", "Promotions planned to be changed"),
    count("ended", "Promotions planned to be ended"),
    count("requests", "Requests planned"),
    schema="warehouse",
    comment="One row a run of the promotions' path",
)

promotion = sa.Table(
    "promotion",
    metadata,
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="Number of the promotion in shelfsync",
    ),
    sa.Column("campaign", sa.Text, nullable=False, index=True, comment="The ERP's identifier of the campaign"),
    sa.Column("name", sa.Text, nullable=False, comment="Its name, in one language"),
    sa.Column("display_name", JSONB, nullable=False, comment="Its name by locale"),
    sa.Column("type", sa.Text, nullable=False, comment="STRIKETHROUGH or SAME_ITEM_BUNDLE"),
    sa.Column("reason", sa.Text, nullable=False, comment="The reason, as one of the platform's values"),
    moment("start_time", "From when it runs", nullable=False),
    moment("end_time", "Until when it runs", nullable=False),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        comment="new, sent (the platform has it: upcoming, running or over by its times), failed or ended",
    ),
    count("vendors", "Vendors it is for"),
    count("skus", "SKUs that the platform has in it, as far as it reported"),
    moment("confirmed_at", "When the platform first confirmed it"),
    moment("ended_at", "When the platform confirmed its end by shelfsync"),
    sa.Index("ix_promotion_window", "start_time", "end_time"),
    schema="warehouse",
    comment="One row a promotion that was ever planned",
)

promotion_vendor = sa.Table(
    "promotion_vendor",
    metadata,
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        sa.ForeignKey("warehouse.promotion.promotion_id"),
        primary_key=True,
        autoincrement=False,
        comment="The promotion",
    ),
    sa.Column("vendor", sa.Text, primary_key=True, comment="The vendor"),
    sa.Index("ix_promotion_vendor_vendor", "vendor"),
    schema="warehouse",
    comment="Which vendors a promotion is for",
)

promotion_sku = sa.Table(
    "promotion_sku",
    metadata,
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        sa.ForeignKey("warehouse.promotion.promotion_id"),
        primary_key=True,
        autoincrement=False,
        comment="The promotion",
    ),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU"),
    sa.Column("subtype", sa.Text, nullable=False, comment="FINAL_PRICE, PERCENTAGE or ABSOLUTE"),
    sa.Column("value", sa.Numeric(20, 3), nullable=False, comment="The final price, the percentage or the amount off"),
    sa.Column("max_quantity", sa.BigInteger, comment="Discounted pieces an order may have; null: any number"),
    sa.Column(
        "known", sa.Boolean, nullable=False, comment="False: the platform may hold this, another value, or nothing"
    ),
    sa.Index("ix_promotion_sku_sku", "sku"),
    schema="warehouse",
    comment="What the platform has of each promotion, at all its vendors but those that promotion_outcome names as rejected",
)

promotion_job = sa.Table(
    "promotion_job",
    metadata,
    sa.Column(
        "job_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Number of the request in shelfsync"
    ),
    sa.Column(
        "run_id",
        sa.BigInteger,
        sa.ForeignKey("warehouse.promotion_run.run_id"),
        nullable=False,
        index=True,
        comment="The run that planned it",
    ),
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        sa.ForeignKey("warehouse.promotion.promotion_id"),
        nullable=False,
        index=True,
        comment="The promotion",
    ),
    sa.Column("action", sa.Text, nullable=False, comment="create, change or end"),
    sa.Column("piece", sa.Integer, nullable=False, comment="Position among the requests of this promotion and run"),
    sa.Column("platform_job_id", sa.Text, comment="The platform's number of the job"),
    sa.Column(
        "platform_status", sa.Text, comment="The last status that the platform reported: COMPLETED, FAILED, DUPLICATE"
    ),
    sa.Column("state", sa.Text, nullable=False, comment="How it ended"),
    sa.Column("body_bytes", sa.BigInteger, nullable=False, comment="Length of the request"),
    count("skus", "SKUs in it"),
    count("sent", "Pairs of SKU and vendor in it"),
    count("accepted", "Pairs that the platform accepted"),
    count("rejected", "Pairs that the platform rejected"),
    count("unaccounted", "Pairs whose outcome is unknown"),
    sa.Column("error", sa.Text, comment="Why it did not end well"),
    moment("sent_at", "When shelfsync committed the request, just before sending it", nullable=False),
    moment("answered_at", "When the platform accepted the request"),
    moment("ended_at", "When its outcome was known or given up"),
    schema="warehouse",
    comment="One row a request about a promotion",
)

promotion_outcome = sa.Table(
    "promotion_outcome",
    metadata,
    sa.Column(
        "job_id",
        sa.BigInteger,
        sa.ForeignKey("warehouse.promotion_job.job_id"),
        primary_key=True,
        autoincrement=False,
        comment="The job",
    ),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU as it was sent"),
    sa.Column(
        "vendor",
        sa.Text,
        primary_key=True,
        comment="The vendor; *: every vendor of the promotion that has no row of its own here",
    ),
    sa.Column("state", sa.Text, nullable=False, comment="accepted, rejected or unaccounted"),
    sa.Column("reason", sa.Text, comment="The platform's list that named it"),
    sa.Column("active", sa.Boolean, nullable=False, comment="False: the request removed the SKU"),
    sa.Column("subtype", sa.Text, nullable=False, comment="FINAL_PRICE, PERCENTAGE or ABSOLUTE"),
    sa.Column("value", sa.Numeric(20, 3), nullable=False, comment="The final price, the percentage or the amount off"),
    moment("known_at", "When it was known", nullable=False),
    sa.Index("ix_promotion_outcome_rejected", "vendor", "sku", postgresql_where=sa.text("state <> 'accepted'")),
    sa.CheckConstraint("state IN ('accepted', 'rejected', 'unaccounted')", name="state"),
    schema="warehouse",
    comment="The outcome of each SKU of each request: one row for all vendors together, and one for each vendor with another outcome",
)

promotion_quarantine = sa.Table(
    "promotion_quarantine",
    metadata,
    sa.Column(
        "run_id",
        sa.BigInteger,
        sa.ForeignKey("warehouse.promotion_run.run_id"),
        primary_key=True,
        autoincrement=False,
        comment="The run",
    ),
    sa.Column(
        "row_number",
        sa.BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="Position of the row in the extract, from 1",
    ),
    sa.Column("vendor", sa.Text, primary_key=True, comment="The vendor of the row; *: all vendors"),
    sa.Column("sku", sa.Text, comment="The SKU; null: the row has none"),
    sa.Column("field", sa.Text, nullable=False, comment="What is wrong with the row"),
    sa.Column("reason", sa.Text, nullable=False, comment="The kind of fault, a stable keyword"),
    sa.Column("message", sa.Text, nullable=False, comment="The fault in a sentence"),
    sa.Column("raw", sa.Text, nullable=False, comment="The whole row as received, as JSON text"),
    schema="warehouse",
    comment="Rows of the ERP's promotions that cannot be sent, with the reason; the ERP's data must be corrected",
)

promotion_finding = sa.Table(
    "promotion_finding",
    metadata,
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="The promotion; 0: one that shelfsync never sent",
    ),
    sa.Column("vendor", sa.Text, primary_key=True, comment="The vendor; *: all of the promotion"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU; empty: the promotion as a whole"),
    sa.Column(
        "cause", sa.Text, primary_key=True, comment="What does not fit, a stable keyword (docs/how-to/promotions.md)"
    ),
    sa.Column("message", sa.Text, nullable=False, comment="The same in a sentence"),
    sa.Column("run_id", sa.BigInteger, nullable=False, comment="The run that found it last"),
    moment("first_at", "When it was first found", nullable=False),
    moment("last_at", "When it was last found; a finding that is over is removed", nullable=False),
    schema="warehouse",
    comment="Where promotions and catalog do not fit together, with the cause",
)
