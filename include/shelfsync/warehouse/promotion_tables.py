"""What the warehouse tells of promotions: what runs where at which price, every request, what became of it, and what does not fit the catalog."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from shelfsync.ledger.metadata import metadata


def _time(name: str, comment: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


def _count(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0", comment=comment)


promotion_run = sa.Table(
    "promotion_run",
    metadata,
    sa.Column("run_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Number of the run"),
    sa.Column("run_key", sa.Text, nullable=False, comment="DAG and run id, or the command line's own name"),
    sa.Column("dry_run", sa.Boolean, nullable=False, comment="True: nothing was sent"),
    sa.Column(
        "state", sa.Text, nullable=False, comment="running, planned, succeeded, partly_failed, failed or superseded"
    ),
    sa.Column("error", sa.Text, comment="What a person should read first"),
    _time("started_at", "When it began"),
    _time("finished_at", "When it ended", nullable=True),
    _count("rows", "Rows read from the ERP"),
    _count("rows_quarantined", "Rows that could not be meant"),
    _count("promotions", "Promotions that the ERP wants"),
    _count("pairs", "Pairs of SKU and vendor that it wants"),
    _count("held", "Pairs that a guard held"),
    _count("created", "Promotions planned to be made"),
    _count("changed", "Promotions planned to be changed"),
    _count("ended", "Promotions planned to be ended"),
    _count("requests", "Requests planned"),
    schema="warehouse",
    comment="One row a run of the promotions' path",
)

promotion = sa.Table(
    "promotion",
    metadata,
    sa.Column(
        "promotion_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Our number of the promotion"
    ),
    sa.Column("campaign", sa.Text, nullable=False, index=True, comment="The ERP's identifier of the campaign"),
    sa.Column("name", sa.Text, nullable=False, comment="Its name, in one language"),
    sa.Column("display_name", JSONB, nullable=False, comment="Its name by locale"),
    sa.Column("type", sa.Text, nullable=False, comment="STRIKETHROUGH or SAME_ITEM_BUNDLE"),
    sa.Column("reason", sa.Text, nullable=False, comment="Why, in the platform's words"),
    _time("start_time", "From when it runs"),
    _time("end_time", "Until when it runs"),
    sa.Column(
        "state",
        sa.Text,
        nullable=False,
        comment="new, told, failed or ended; what is told is upcoming, running or over by its times",
    ),
    _count("vendors", "Vendors it is for"),
    _count("skus", "SKUs the platform holds in it, as far as it said so"),
    _time("told_at", "When the platform first confirmed it", nullable=True),
    _time("ended_at", "When the platform confirmed that we ended it", nullable=True),
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
    comment="What the platform holds of each promotion, at all its vendors but those that promotion_outcome names as refused",
)

promotion_job = sa.Table(
    "promotion_job",
    metadata,
    sa.Column("job_id", sa.BigInteger, primary_key=True, autoincrement=False, comment="Our number of the request"),
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
    sa.Column("piece", sa.Integer, nullable=False, comment="Place among the requests of this promotion and run"),
    sa.Column("platform_job_id", sa.Text, comment="The platform's number of the job"),
    sa.Column("platform_status", sa.Text, comment="The platform's last word: COMPLETED, FAILED, DUPLICATE"),
    sa.Column("state", sa.Text, nullable=False, comment="How it ended"),
    sa.Column("body_bytes", sa.BigInteger, nullable=False, comment="Length of the request"),
    _count("skus", "SKUs in it"),
    _count("sent", "Pairs of SKU and vendor in it"),
    _count("accepted", "Pairs the platform took"),
    _count("refused", "Pairs it refused"),
    _count("unaccounted", "Pairs of which nobody knows"),
    sa.Column("error", sa.Text, comment="Why it did not end well"),
    _time("sent_at", "When the request was committed to leave"),
    _time("answered_at", "When the platform took it", nullable=True),
    _time("settled_at", "When its outcome was known or given up", nullable=True),
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
    sa.Column("state", sa.Text, nullable=False, comment="accepted, refused or unaccounted"),
    sa.Column("reason", sa.Text, comment="Which list of the platform named it"),
    sa.Column("active", sa.Boolean, nullable=False, comment="False: the request took the SKU out"),
    sa.Column("subtype", sa.Text, nullable=False, comment="FINAL_PRICE, PERCENTAGE or ABSOLUTE"),
    sa.Column("value", sa.Numeric(20, 3), nullable=False, comment="The final price, the percentage or the amount off"),
    _time("settled_at", "When it was known"),
    sa.Index("ix_promotion_outcome_refused", "vendor", "sku", postgresql_where=sa.text("state <> 'accepted'")),
    sa.CheckConstraint("state IN ('accepted', 'refused', 'unaccounted')", name="state"),
    schema="warehouse",
    comment="What became of each SKU of each request: one row for all vendors alike, and one for each vendor that was told otherwise",
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
        comment="Place of the row in the extract, from 1",
    ),
    sa.Column("vendor", sa.Text, primary_key=True, comment="The vendor for whom it cannot be meant; *: for all"),
    sa.Column("sku", sa.Text, comment="The SKU, as far as there is one"),
    sa.Column("field", sa.Text, nullable=False, comment="What is wrong with the row"),
    sa.Column("reason", sa.Text, nullable=False, comment="The kind of fault, a stable word"),
    sa.Column("message", sa.Text, nullable=False, comment="The fault in a sentence"),
    sa.Column("raw", sa.Text, nullable=False, comment="The whole row as it came, as JSON text"),
    schema="warehouse",
    comment="Rows of the ERP's promotions that cannot be meant, with the reason: work for people",
)

promotion_finding = sa.Table(
    "promotion_finding",
    metadata,
    sa.Column(
        "promotion_id",
        sa.BigInteger,
        primary_key=True,
        autoincrement=False,
        comment="The promotion; 0: one that we never told",
    ),
    sa.Column("vendor", sa.Text, primary_key=True, comment="The vendor; *: all of the promotion"),
    sa.Column("sku", sa.Text, primary_key=True, comment="The SKU; empty: the promotion as a whole"),
    sa.Column("cause", sa.Text, primary_key=True, comment="What does not fit, a stable word (docs/promotions.md)"),
    sa.Column("message", sa.Text, nullable=False, comment="The same in a sentence"),
    sa.Column("run_id", sa.BigInteger, nullable=False, comment="The run that found it last"),
    _time("first_at", "When it was first found"),
    _time("last_at", "When it was last found; a finding that is over is removed"),
    schema="warehouse",
    comment="Where promotions and catalog do not fit together, with the cause",
)
