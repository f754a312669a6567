"""Promotions in the ledger: runs, what the platform was told, requests, refusals, holds."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.execute("CREATE SEQUENCE ledger.promotion_generation")
    op.create_table(
        "promotion",
        sa.Column(
            "promotion_id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Our number of the promotion",
        ),
        sa.Column(
            "identity",
            sa.Text(),
            nullable=False,
            comment="Hash of display name, vendors, start and end: what the platform tells promotions apart by",
        ),
        sa.Column("campaign", sa.Text(), nullable=False, comment="The ERP's identifier of the campaign"),
        sa.Column(
            "header",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="What all its SKUs share, as it was told last",
        ),
        sa.Column(
            "vendors", postgresql.ARRAY(sa.Text()), nullable=False, comment="Its vendors; * alone: all of the chain"
        ),
        sa.Column(
            "start_time",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="From when it runs",
        ),
        sa.Column(
            "end_time",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="Until when it runs",
        ),
        sa.Column(
            "state",
            sa.Text(),
            server_default="new",
            nullable=False,
            comment="new: never confirmed; told: the platform has it, or may; failed: it was refused; ended: we ended it",
        ),
        sa.Column(
            "version",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Grows by one whenever what was told moves",
        ),
        sa.Column(
            "told_path",
            sa.Text(),
            nullable=True,
            comment="Lake: SKUs and discounts that the platform holds, as far as it said so",
        ),
        sa.Column(
            "wanted_path",
            sa.Text(),
            nullable=True,
            comment="Lake: entries of the last plan that was acknowledged whole; equal: nothing to do",
        ),
        sa.Column(
            "created_body_path",
            sa.Text(),
            nullable=True,
            comment="Lake: the body of its creation, byte for byte, with which it is ended",
        ),
        sa.Column("created_body_bytes", sa.BigInteger(), server_default="0", nullable=False, comment="Its length"),
        sa.Column(
            "failures",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Requests about it in a row of which nobody knows why they failed",
        ),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True, comment="Not to be tried again before"),
        sa.Column(
            "made_elsewhere",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: its first request came back DUPLICATE, so somebody else made it",
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was first planned",
        ),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=True, comment="When the platform first confirmed it"),
        sa.Column(
            "ended_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the platform confirmed that we ended it",
        ),
        sa.CheckConstraint("state IN ('new', 'told', 'failed', 'ended')", name=op.f("ck_promotion_state")),
        sa.CheckConstraint("start_time < end_time", name=op.f("ck_promotion_window")),
        sa.PrimaryKeyConstraint("promotion_id", name=op.f("pk_promotion")),
        sa.UniqueConstraint("identity", name=op.f("uq_promotion_identity")),
        schema="ledger",
        comment="One row a promotion that was ever planned, and what the platform was told of it",
    )
    op.create_index(op.f("ix_promotion_campaign"), "promotion", ["campaign"], unique=False, schema="ledger")
    op.create_table(
        "promotion_fence",
        sa.Column("one", sa.Boolean(), server_default=sa.text("true"), nullable=False, comment="There is one row"),
        sa.Column(
            "generation",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Highest generation that was planned",
        ),
        sa.CheckConstraint("one", name=op.f("ck_promotion_fence_one")),
        sa.PrimaryKeyConstraint("one", name=op.f("pk_promotion_fence")),
        schema="ledger",
        comment="The order of plans: nothing older than the newest is planned any more (I4, I5)",
    )
    op.create_table(
        "promotion_hold",
        sa.Column("hold_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the hold"),
        sa.Column("campaign", sa.Text(), nullable=False, comment="The campaign"),
        sa.Column("rule", sa.Text(), nullable=False, comment="discount, below_cost, assortment or ended"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor; empty: all"),
        sa.Column(
            "fingerprint",
            sa.Text(),
            nullable=False,
            comment="Hash of exactly what is held; a release is for nothing else",
        ),
        sa.Column("skus", sa.BigInteger(), nullable=False, comment="SKUs held"),
        sa.Column("message", sa.Text(), nullable=False, comment="What a person has to decide, in a sentence"),
        sa.Column("state", sa.Text(), server_default="held", nullable=False, comment="held, released, refused or gone"),
        sa.Column("decided_by", sa.Text(), nullable=True, comment="Who released or refused it"),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True, comment="When"),
        sa.Column(
            "first_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was first held",
        ),
        sa.Column(
            "last_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When a run last found it",
        ),
        sa.CheckConstraint("state IN ('held', 'released', 'refused', 'gone')", name=op.f("ck_promotion_hold_state")),
        sa.PrimaryKeyConstraint("hold_id", name=op.f("pk_promotion_hold")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_promotion_hold_fingerprint")),
        schema="ledger",
        comment="Slices of campaigns that a guard keeps back until a person has decided about exactly them",
    )
    op.create_index(
        "ix_promotion_hold_held",
        "promotion_hold",
        ["campaign"],
        unique=False,
        schema="ledger",
        postgresql_where=sa.text("state = 'held'"),
    )
    op.create_table(
        "promotion_run",
        sa.Column(
            "run_id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Our number of the run; a later run has a higher one, and nothing older is planned after it",
        ),
        sa.Column("run_key", sa.Text(), nullable=False, comment="DAG and run id, or the command line's own name"),
        sa.Column("dry_run", sa.Boolean(), server_default=sa.text("false"), nullable=False, comment="True: plan only"),
        sa.Column(
            "state",
            sa.Text(),
            server_default="running",
            nullable=False,
            comment="running, planned, succeeded, partly_failed, failed or superseded",
        ),
        sa.Column(
            "error", sa.Text(), nullable=True, comment="The first line a person should read, when it did not succeed"
        ),
        sa.Column(
            "generation", sa.BigInteger(), nullable=True, comment="Order of its extract among all; null: not read yet"
        ),
        sa.Column("manifest_path", sa.Text(), nullable=True, comment="Lake: the files of the extract, by vendor"),
        sa.Column("proof", sa.Text(), nullable=True, comment="How completeness of the extract was proven, in words"),
        sa.Column(
            "complete",
            sa.Boolean(),
            nullable=True,
            comment="True: what is absent from the extract is absent from the ERP",
        ),
        sa.Column(
            "told",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="What a person should be told of the plan: counts and lines",
        ),
        sa.Column("planned_at", sa.DateTime(timezone=True), nullable=True, comment="When its requests were committed"),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was opened",
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True, comment="When it was reported"),
        sa.CheckConstraint(
            "state IN ('running', 'planned', 'succeeded', 'partly_failed', 'failed', 'superseded')",
            name=op.f("ck_promotion_run_state"),
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_promotion_run")),
        sa.UniqueConstraint("run_key", name=op.f("uq_promotion_run_run_key")),
        schema="ledger",
        comment="One row a run of the promotions' path",
    )
    op.create_table(
        "promotion_job",
        sa.Column(
            "job_id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Our number of the request and its job",
        ),
        sa.Column("promotion_id", sa.BigInteger(), nullable=False, comment="The promotion"),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run that planned it"),
        sa.Column("action", sa.Text(), nullable=False, comment="create, change or end"),
        sa.Column(
            "piece", sa.Integer(), nullable=False, comment="Place among the requests of this promotion and run, from 1"
        ),
        sa.Column("pieces", sa.Integer(), nullable=False, comment="How many there are"),
        sa.Column(
            "header",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="What all SKUs of the request share",
        ),
        sa.Column(
            "items_path", sa.Text(), nullable=True, comment="Lake: the SKUs and what is said of each; null: an end"
        ),
        sa.Column(
            "wanted_path", sa.Text(), nullable=True, comment="Lake: all entries of the promotion as the plan wants them"
        ),
        sa.Column(
            "body_path",
            sa.Text(),
            nullable=False,
            comment="Lake: the body, byte for byte; an end sends it with active false",
        ),
        sa.Column("body_bytes", sa.BigInteger(), nullable=False, comment="Length of the request as it is sent"),
        sa.Column("skus", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs in it"),
        sa.Column("vendors", sa.BigInteger(), server_default="0", nullable=False, comment="Vendors it is for"),
        sa.Column(
            "state",
            sa.Text(),
            server_default="planned",
            nullable=False,
            comment="planned, submitting, open, acknowledged, refused, unconfirmed or superseded",
        ),
        sa.Column("platform_job_id", sa.Text(), nullable=True, comment="The platform's number of the job"),
        sa.Column("platform_status", sa.Text(), nullable=True, comment="The platform's own word, as last heard"),
        sa.Column("result_path", sa.Text(), nullable=True, comment="Lake: the lists of the status call"),
        sa.Column(
            "attempts", sa.BigInteger(), server_default="0", nullable=False, comment="How often the request left"
        ),
        sa.Column(
            "polls",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="How often the platform was asked about it",
        ),
        sa.Column("sent", sa.BigInteger(), server_default="0", nullable=False, comment="Pairs of SKU and vendor in it"),
        sa.Column("accepted", sa.BigInteger(), nullable=True, comment="Pairs the platform took"),
        sa.Column("refused", sa.BigInteger(), nullable=True, comment="Pairs it named in a list"),
        sa.Column("unaccounted", sa.BigInteger(), nullable=True, comment="Pairs of which nobody knows"),
        sa.Column("error", sa.Text(), nullable=True, comment="Why it did not end well, in one line"),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When the row was committed, before anything was sent",
        ),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True, comment="When the platform's 202 was read"),
        sa.Column("next_poll_at", sa.DateTime(timezone=True), nullable=True, comment="When to ask about it"),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True, comment="When waiting ends"),
        sa.Column(
            "settled_at", sa.DateTime(timezone=True), nullable=True, comment="When its outcome was known or given up"
        ),
        sa.CheckConstraint("action IN ('create', 'change', 'end')", name=op.f("ck_promotion_job_action")),
        sa.CheckConstraint(
            "state IN ('planned', 'submitting', 'open', 'acknowledged', 'refused', 'unconfirmed', 'superseded')",
            name=op.f("ck_promotion_job_state"),
        ),
        sa.CheckConstraint(
            "accepted IS NULL OR sent = accepted + refused + unaccounted", name=op.f("ck_promotion_job_conservation")
        ),
        sa.ForeignKeyConstraint(
            ["promotion_id"], ["ledger.promotion.promotion_id"], name=op.f("fk_promotion_job_promotion_id")
        ),
        sa.ForeignKeyConstraint(["run_id"], ["ledger.promotion_run.run_id"], name=op.f("fk_promotion_job_run_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_promotion_job")),
        schema="ledger",
        comment="One row a request about a promotion, committed before it leaves",
    )
    op.create_index(
        "ix_promotion_job_open",
        "promotion_job",
        ["promotion_id"],
        unique=False,
        schema="ledger",
        postgresql_where=sa.text("state IN ('planned', 'submitting', 'open')"),
    )
    op.create_index(
        op.f("ix_promotion_job_promotion_id"), "promotion_job", ["promotion_id"], unique=False, schema="ledger"
    )
    op.create_index(op.f("ix_promotion_job_run_id"), "promotion_job", ["run_id"], unique=False, schema="ledger")
    op.create_index(
        "uq_promotion_job_piece",
        "promotion_job",
        ["promotion_id", "run_id", "action", "piece"],
        unique=True,
        schema="ledger",
    )
    op.create_index(
        "uq_promotion_job_platform_job_id",
        "promotion_job",
        ["platform_job_id"],
        unique=True,
        schema="ledger",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.create_table(
        "promotion_rejection",
        sa.Column("promotion_id", sa.BigInteger(), nullable=False, comment="The promotion"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column("reason", sa.Text(), nullable=False, comment="Which list of the platform named it"),
        sa.Column("subtype", sa.Text(), nullable=False, comment="The discount wanted when it was refused"),
        sa.Column(
            "value",
            sa.Numeric(precision=20, scale=3),
            nullable=False,
            comment="The discount wanted when it was refused",
        ),
        sa.Column("max_quantity", sa.BigInteger(), nullable=True, comment="The discount wanted when it was refused"),
        sa.Column(
            "base_price",
            sa.Numeric(precision=20, scale=3),
            nullable=True,
            comment="The base price known then; another one releases it",
        ),
        sa.Column(
            "known",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether the vendor had the SKU then, as far as we knew",
        ),
        sa.Column("job_id", sa.BigInteger(), nullable=False, comment="The job that refused it last"),
        sa.Column("times", sa.BigInteger(), server_default="0", nullable=False, comment="How often it was refused"),
        sa.Column(
            "last_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("ledger.instant()"),
            nullable=False,
            comment="When it was last refused",
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["ledger.promotion_job.job_id"], name=op.f("fk_promotion_rejection_job_id")
        ),
        sa.ForeignKeyConstraint(
            ["promotion_id"], ["ledger.promotion.promotion_id"], name=op.f("fk_promotion_rejection_promotion_id")
        ),
        sa.PrimaryKeyConstraint("promotion_id", "vendor", "sku", name=op.f("pk_promotion_rejection")),
        schema="ledger",
        comment="Pairs the platform refused: not repeated until price, base price or assortment change, or a day has passed",
    )
    op.create_index(
        "ix_promotion_rejection_vendor", "promotion_rejection", ["vendor", "sku"], unique=False, schema="ledger"
    )


def downgrade() -> None:
    op.drop_index("ix_promotion_rejection_vendor", table_name="promotion_rejection", schema="ledger")
    op.drop_table("promotion_rejection", schema="ledger")
    op.drop_index(
        "uq_promotion_job_platform_job_id",
        table_name="promotion_job",
        schema="ledger",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.drop_index("uq_promotion_job_piece", table_name="promotion_job", schema="ledger")
    op.drop_index(op.f("ix_promotion_job_run_id"), table_name="promotion_job", schema="ledger")
    op.drop_index(op.f("ix_promotion_job_promotion_id"), table_name="promotion_job", schema="ledger")
    op.drop_index(
        "ix_promotion_job_open",
        table_name="promotion_job",
        schema="ledger",
        postgresql_where=sa.text("state IN ('planned', 'submitting', 'open')"),
    )
    op.drop_table("promotion_job", schema="ledger")
    op.drop_table("promotion_run", schema="ledger")
    op.drop_index(
        "ix_promotion_hold_held",
        table_name="promotion_hold",
        schema="ledger",
        postgresql_where=sa.text("state = 'held'"),
    )
    op.drop_table("promotion_hold", schema="ledger")
    op.drop_table("promotion_fence", schema="ledger")
    op.drop_index(op.f("ix_promotion_campaign"), table_name="promotion", schema="ledger")
    op.drop_table("promotion", schema="ledger")
    op.execute("DROP SEQUENCE ledger.promotion_generation")
