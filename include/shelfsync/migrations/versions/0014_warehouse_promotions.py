"""Promotions in the warehouse: what runs where at which price, requests, outcomes, findings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "promotion",
        sa.Column(
            "promotion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Our number of the promotion"
        ),
        sa.Column("campaign", sa.Text(), nullable=False, comment="The ERP's identifier of the campaign"),
        sa.Column("name", sa.Text(), nullable=False, comment="Its name, in one language"),
        sa.Column(
            "display_name", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="Its name by locale"
        ),
        sa.Column("type", sa.Text(), nullable=False, comment="STRIKETHROUGH or SAME_ITEM_BUNDLE"),
        sa.Column("reason", sa.Text(), nullable=False, comment="Why, in the platform's words"),
        sa.Column("start_time", sa.DateTime(timezone=True), nullable=False, comment="From when it runs"),
        sa.Column("end_time", sa.DateTime(timezone=True), nullable=False, comment="Until when it runs"),
        sa.Column(
            "state",
            sa.Text(),
            nullable=False,
            comment="new, told, failed or ended; what is told is upcoming, running or over by its times",
        ),
        sa.Column("vendors", sa.BigInteger(), server_default="0", nullable=False, comment="Vendors it is for"),
        sa.Column(
            "skus",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="SKUs the platform holds in it, as far as it said so",
        ),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=True, comment="When the platform first confirmed it"),
        sa.Column(
            "ended_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the platform confirmed that we ended it",
        ),
        sa.PrimaryKeyConstraint("promotion_id", name=op.f("pk_promotion")),
        schema="warehouse",
        comment="One row a promotion that was ever planned",
    )
    op.create_index(op.f("ix_promotion_campaign"), "promotion", ["campaign"], unique=False, schema="warehouse")
    op.create_index("ix_promotion_window", "promotion", ["start_time", "end_time"], unique=False, schema="warehouse")
    op.create_table(
        "promotion_finding",
        sa.Column(
            "promotion_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The promotion; 0: one that we never told",
        ),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor; *: all of the promotion"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU; empty: the promotion as a whole"),
        sa.Column("cause", sa.Text(), nullable=False, comment="What does not fit, a stable word (docs/promotions.md)"),
        sa.Column("message", sa.Text(), nullable=False, comment="The same in a sentence"),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run that found it last"),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False, comment="When it was first found"),
        sa.Column(
            "last_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When it was last found; a finding that is over is removed",
        ),
        sa.PrimaryKeyConstraint("promotion_id", "vendor", "sku", "cause", name=op.f("pk_promotion_finding")),
        schema="warehouse",
        comment="Where promotions and catalog do not fit together, with the cause",
    )
    op.create_table(
        "promotion_run",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Number of the run"),
        sa.Column("run_key", sa.Text(), nullable=False, comment="DAG and run id, or the command line's own name"),
        sa.Column("dry_run", sa.Boolean(), nullable=False, comment="True: nothing was sent"),
        sa.Column(
            "state",
            sa.Text(),
            nullable=False,
            comment="running, planned, succeeded, partly_failed, failed or superseded",
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="What a person should read first"),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, comment="When it began"),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True, comment="When it ended"),
        sa.Column("rows", sa.BigInteger(), server_default="0", nullable=False, comment="Rows read from the ERP"),
        sa.Column(
            "rows_quarantined",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Rows that could not be meant",
        ),
        sa.Column(
            "promotions", sa.BigInteger(), server_default="0", nullable=False, comment="Promotions that the ERP wants"
        ),
        sa.Column(
            "pairs",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Pairs of SKU and vendor that it wants",
        ),
        sa.Column("held", sa.BigInteger(), server_default="0", nullable=False, comment="Pairs that a guard held"),
        sa.Column(
            "created", sa.BigInteger(), server_default="0", nullable=False, comment="Promotions planned to be made"
        ),
        sa.Column(
            "changed", sa.BigInteger(), server_default="0", nullable=False, comment="Promotions planned to be changed"
        ),
        sa.Column(
            "ended", sa.BigInteger(), server_default="0", nullable=False, comment="Promotions planned to be ended"
        ),
        sa.Column("requests", sa.BigInteger(), server_default="0", nullable=False, comment="Requests planned"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_promotion_run")),
        schema="warehouse",
        comment="One row a run of the promotions' path",
    )
    op.create_table(
        "promotion_job",
        sa.Column("job_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Our number of the request"),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run that planned it"),
        sa.Column("promotion_id", sa.BigInteger(), nullable=False, comment="The promotion"),
        sa.Column("action", sa.Text(), nullable=False, comment="create, change or end"),
        sa.Column("piece", sa.Integer(), nullable=False, comment="Place among the requests of this promotion and run"),
        sa.Column("platform_job_id", sa.Text(), nullable=True, comment="The platform's number of the job"),
        sa.Column(
            "platform_status",
            sa.Text(),
            nullable=True,
            comment="The platform's last word: COMPLETED, FAILED, DUPLICATE",
        ),
        sa.Column("state", sa.Text(), nullable=False, comment="How it ended"),
        sa.Column("body_bytes", sa.BigInteger(), nullable=False, comment="Length of the request"),
        sa.Column("skus", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs in it"),
        sa.Column("sent", sa.BigInteger(), server_default="0", nullable=False, comment="Pairs of SKU and vendor in it"),
        sa.Column("accepted", sa.BigInteger(), server_default="0", nullable=False, comment="Pairs the platform took"),
        sa.Column("refused", sa.BigInteger(), server_default="0", nullable=False, comment="Pairs it refused"),
        sa.Column(
            "unaccounted", sa.BigInteger(), server_default="0", nullable=False, comment="Pairs of which nobody knows"
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="Why it did not end well"),
        sa.Column(
            "sent_at", sa.DateTime(timezone=True), nullable=False, comment="When the request was committed to leave"
        ),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True, comment="When the platform took it"),
        sa.Column(
            "settled_at", sa.DateTime(timezone=True), nullable=True, comment="When its outcome was known or given up"
        ),
        sa.ForeignKeyConstraint(
            ["promotion_id"], ["warehouse.promotion.promotion_id"], name=op.f("fk_promotion_job_promotion_id")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["warehouse.promotion_run.run_id"], name=op.f("fk_promotion_job_run_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_promotion_job")),
        schema="warehouse",
        comment="One row a request about a promotion",
    )
    op.create_index(
        op.f("ix_promotion_job_promotion_id"), "promotion_job", ["promotion_id"], unique=False, schema="warehouse"
    )
    op.create_index(op.f("ix_promotion_job_run_id"), "promotion_job", ["run_id"], unique=False, schema="warehouse")
    op.create_table(
        "promotion_quarantine",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The run"),
        sa.Column(
            "row_number",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="Place of the row in the extract, from 1",
        ),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor for whom it cannot be meant; *: for all"),
        sa.Column("sku", sa.Text(), nullable=True, comment="The SKU, as far as there is one"),
        sa.Column("field", sa.Text(), nullable=False, comment="What is wrong with the row"),
        sa.Column("reason", sa.Text(), nullable=False, comment="The kind of fault, a stable word"),
        sa.Column("message", sa.Text(), nullable=False, comment="The fault in a sentence"),
        sa.Column("raw", sa.Text(), nullable=False, comment="The whole row as it came, as JSON text"),
        sa.ForeignKeyConstraint(
            ["run_id"], ["warehouse.promotion_run.run_id"], name=op.f("fk_promotion_quarantine_run_id")
        ),
        sa.PrimaryKeyConstraint("run_id", "row_number", "vendor", name=op.f("pk_promotion_quarantine")),
        schema="warehouse",
        comment="Rows of the ERP's promotions that cannot be meant, with the reason: work for people",
    )
    op.create_table(
        "promotion_sku",
        sa.Column("promotion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The promotion"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column("subtype", sa.Text(), nullable=False, comment="FINAL_PRICE, PERCENTAGE or ABSOLUTE"),
        sa.Column(
            "value",
            sa.Numeric(precision=20, scale=3),
            nullable=False,
            comment="The final price, the percentage or the amount off",
        ),
        sa.Column(
            "max_quantity",
            sa.BigInteger(),
            nullable=True,
            comment="Discounted pieces an order may have; null: any number",
        ),
        sa.Column(
            "known",
            sa.Boolean(),
            nullable=False,
            comment="False: the platform may hold this, another value, or nothing",
        ),
        sa.ForeignKeyConstraint(
            ["promotion_id"], ["warehouse.promotion.promotion_id"], name=op.f("fk_promotion_sku_promotion_id")
        ),
        sa.PrimaryKeyConstraint("promotion_id", "sku", name=op.f("pk_promotion_sku")),
        schema="warehouse",
        comment="What the platform holds of each promotion, at all its vendors but those that promotion_outcome names as refused",
    )
    op.create_index("ix_promotion_sku_sku", "promotion_sku", ["sku"], unique=False, schema="warehouse")
    op.create_table(
        "promotion_vendor",
        sa.Column("promotion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The promotion"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.ForeignKeyConstraint(
            ["promotion_id"], ["warehouse.promotion.promotion_id"], name=op.f("fk_promotion_vendor_promotion_id")
        ),
        sa.PrimaryKeyConstraint("promotion_id", "vendor", name=op.f("pk_promotion_vendor")),
        schema="warehouse",
        comment="Which vendors a promotion is for",
    )
    op.create_index("ix_promotion_vendor_vendor", "promotion_vendor", ["vendor"], unique=False, schema="warehouse")
    op.create_table(
        "promotion_outcome",
        sa.Column("job_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The job"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU as it was sent"),
        sa.Column(
            "vendor",
            sa.Text(),
            nullable=False,
            comment="The vendor; *: every vendor of the promotion that has no row of its own here",
        ),
        sa.Column("state", sa.Text(), nullable=False, comment="accepted, refused or unaccounted"),
        sa.Column("reason", sa.Text(), nullable=True, comment="Which list of the platform named it"),
        sa.Column("active", sa.Boolean(), nullable=False, comment="False: the request took the SKU out"),
        sa.Column("subtype", sa.Text(), nullable=False, comment="FINAL_PRICE, PERCENTAGE or ABSOLUTE"),
        sa.Column(
            "value",
            sa.Numeric(precision=20, scale=3),
            nullable=False,
            comment="The final price, the percentage or the amount off",
        ),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=False, comment="When it was known"),
        sa.CheckConstraint("state IN ('accepted', 'refused', 'unaccounted')", name=op.f("ck_promotion_outcome_state")),
        sa.ForeignKeyConstraint(
            ["job_id"], ["warehouse.promotion_job.job_id"], name=op.f("fk_promotion_outcome_job_id")
        ),
        sa.PrimaryKeyConstraint("job_id", "sku", "vendor", name=op.f("pk_promotion_outcome")),
        schema="warehouse",
        comment="What became of each SKU of each request: one row for all vendors alike, and one for each vendor that was told otherwise",
    )
    op.create_index(
        "ix_promotion_outcome_refused",
        "promotion_outcome",
        ["vendor", "sku"],
        unique=False,
        schema="warehouse",
        postgresql_where=sa.text("state <> 'accepted'"),
    )


def downgrade() -> None:
    op.drop_index(
        "ix_promotion_outcome_refused",
        table_name="promotion_outcome",
        schema="warehouse",
        postgresql_where=sa.text("state <> 'accepted'"),
    )
    op.drop_table("promotion_outcome", schema="warehouse")
    op.drop_index("ix_promotion_vendor_vendor", table_name="promotion_vendor", schema="warehouse")
    op.drop_table("promotion_vendor", schema="warehouse")
    op.drop_index("ix_promotion_sku_sku", table_name="promotion_sku", schema="warehouse")
    op.drop_table("promotion_sku", schema="warehouse")
    op.drop_table("promotion_quarantine", schema="warehouse")
    op.drop_index(op.f("ix_promotion_job_run_id"), table_name="promotion_job", schema="warehouse")
    op.drop_index(op.f("ix_promotion_job_promotion_id"), table_name="promotion_job", schema="warehouse")
    op.drop_table("promotion_job", schema="warehouse")
    op.drop_table("promotion_run", schema="warehouse")
    op.drop_table("promotion_finding", schema="warehouse")
    op.drop_index("ix_promotion_window", table_name="promotion", schema="warehouse")
    op.drop_index(op.f("ix_promotion_campaign"), table_name="promotion", schema="warehouse")
    op.drop_table("promotion", schema="warehouse")
