"""The ledger: runs, fences, batches, jobs, baselines, rejections, the shared token."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None

INSTANT = """
CREATE FUNCTION ledger.instant() RETURNS timestamptz LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(nullif(current_setting('shelfsync.instant', true), '')::timestamptz, clock_timestamp())
$$
"""


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS ledger")
    op.execute(INSTANT)
    op.execute(sa.schema.CreateSequence(sa.Sequence("generation", schema="ledger")))
    op.create_table(
        "platform_check",
        sa.Column("fingerprint", sa.Text(), nullable=False, comment="Hash of address, chain and credentials"),
        sa.Column(
            "checked_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When the platform last let us in with them",
        ),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_platform_check")),
        schema="ledger",
        comment="Which platform configurations are known to work, so that not every delta has to ask",
    )
    op.create_table(
        "run",
        sa.Column("run_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Our number of the run"),
        sa.Column(
            "run_key",
            sa.Text(),
            nullable=False,
            comment="The caller's name for it: DAG and run id, or the command line's own",
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="full: everything is sent; delta: only what changed"),
        sa.Column(
            "dry_run",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="True: plan only, nothing is sent",
        ),
        sa.Column(
            "vendors",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="The vendors asked for; empty: all of the extract",
        ),
        sa.Column(
            "state",
            sa.Text(),
            server_default="running",
            nullable=False,
            comment="running, succeeded, partly_failed or failed",
        ),
        sa.Column(
            "error", sa.Text(), nullable=True, comment="The first line a person should read, when it did not succeed"
        ),
        sa.Column(
            "started_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When it was opened",
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True, comment="When it was reported"),
        sa.CheckConstraint("kind IN ('full', 'delta')", name=op.f("ck_run_kind")),
        sa.CheckConstraint("state IN ('running', 'succeeded', 'partly_failed', 'failed')", name=op.f("ck_run_state")),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_run")),
        sa.UniqueConstraint("run_key", name=op.f("uq_run_run_key")),
        schema="ledger",
        comment="One row a run of the path from extract to acknowledge",
    )
    op.create_table(
        "token",
        sa.Column("fingerprint", sa.Text(), nullable=False, comment="Hash of address, chain and client"),
        sa.Column(
            "sealed",
            sa.LargeBinary(),
            nullable=True,
            comment="The access token, encrypted with a key made from the client secret; null: none is held",
        ),
        sa.Column(
            "lifetime_s",
            sa.Float(),
            server_default="0",
            nullable=False,
            comment="What the token had at birth, in seconds",
        ),
        sa.Column(
            "expires_at", sa.DateTime(timezone=True), nullable=True, comment="When it ends, by the database's clock"
        ),
        sa.Column(
            "leased_until",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Until when one worker alone may ask the platform for a new one",
        ),
        sa.PrimaryKeyConstraint("fingerprint", name=op.f("pk_token")),
        schema="ledger",
        comment="The access token that all workers share",
    )
    op.create_table(
        "vendor",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The platform's identifier of the store"),
        sa.Column(
            "fence",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Highest generation whose batches were planned; nothing older may be sent any more",
        ),
        sa.Column(
            "baseline_version",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Version of the baseline in force; 0: nothing was ever acknowledged",
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When the vendor was first seen in an extract",
        ),
        sa.PrimaryKeyConstraint("vendor", name=op.f("pk_vendor")),
        schema="ledger",
        comment="One row a vendor: the fence and the version of its baseline; locked while either moves",
    )
    op.create_table(
        "extract",
        sa.Column(
            "extract_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the reading"
        ),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run that read"),
        sa.Column("rows", sa.BigInteger(), server_default="0", nullable=False, comment="Rows read from the ERP"),
        sa.Column(
            "rows_expected",
            sa.BigInteger(),
            nullable=True,
            comment="Rows that the proof says there are; null: no proof was possible",
        ),
        sa.Column("proof", sa.Text(), nullable=False, comment="How completeness was proven, in words"),
        sa.Column(
            "complete",
            sa.Boolean(),
            nullable=False,
            comment="True: what is absent from this extract is absent from the ERP",
        ),
        sa.Column(
            "read_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When the reading ended",
        ),
        sa.ForeignKeyConstraint(["run_id"], ["ledger.run.run_id"], name=op.f("fk_extract_run_id")),
        sa.PrimaryKeyConstraint("extract_id", name=op.f("pk_extract")),
        schema="ledger",
        comment="One row a finished reading of the ERP, with its completeness proof",
    )
    op.create_index(op.f("ix_extract_run_id"), "extract", ["run_id"], unique=False, schema="ledger")
    op.create_table(
        "vendor_run",
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("extract_id", sa.BigInteger(), nullable=True, comment="The reading these rows came from"),
        sa.Column(
            "generation", sa.BigInteger(), nullable=False, comment="Order of this snapshot among all of the vendor's"
        ),
        sa.Column(
            "state",
            sa.Text(),
            server_default="open",
            nullable=False,
            comment="open, unchanged, planned, acknowledged, busy, superseded or failed",
        ),
        sa.Column("failed_step", sa.Text(), nullable=True, comment="The step that failed"),
        sa.Column("error", sa.Text(), nullable=True, comment="Why, in one line"),
        sa.Column("raw_path", sa.Text(), nullable=True, comment="Lake: rows as the ERP gave them"),
        sa.Column("snapshot_path", sa.Text(), nullable=True, comment="Lake: canonical rows"),
        sa.Column("quarantine_path", sa.Text(), nullable=True, comment="Lake: rows that cannot be sent, with reasons"),
        sa.Column("delta_path", sa.Text(), nullable=True, comment="Lake: what must change on the platform"),
        sa.Column("released_path", sa.Text(), nullable=True, comment="Lake: the part of the delta that no guard held"),
        sa.Column("held_path", sa.Text(), nullable=True, comment="Lake: the part of the delta that a guard held"),
        sa.Column(
            "base_version",
            sa.BigInteger(),
            nullable=True,
            comment="Version of the baseline that the delta was made against",
        ),
        sa.Column("batched_at", sa.DateTime(timezone=True), nullable=True, comment="When its batches were committed"),
        sa.Column("rows_raw", sa.BigInteger(), server_default="0", nullable=False, comment="Rows read for this vendor"),
        sa.Column(
            "rows_snapshot", sa.BigInteger(), server_default="0", nullable=False, comment="Rows that became canonical"
        ),
        sa.Column("rows_quarantined", sa.BigInteger(), server_default="0", nullable=False, comment="Rows that did not"),
        sa.Column(
            "changes_new",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="SKUs the baseline does not know",
        ),
        sa.Column(
            "changes_changed", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs with another value"
        ),
        sa.Column(
            "changes_removed", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs that left the extract"
        ),
        sa.Column(
            "changes_same", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs repeated by a full sync"
        ),
        sa.Column(
            "changes_held", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs that a guard held"
        ),
        sa.Column(
            "plan_batches", sa.BigInteger(), server_default="0", nullable=False, comment="Request bodies planned"
        ),
        sa.Column("plan_bytes", sa.BigInteger(), server_default="0", nullable=False, comment="Their length together"),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Last change of this row",
        ),
        sa.ForeignKeyConstraint(["extract_id"], ["ledger.extract.extract_id"], name=op.f("fk_vendor_run_extract_id")),
        sa.ForeignKeyConstraint(["run_id"], ["ledger.run.run_id"], name=op.f("fk_vendor_run_run_id")),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_vendor_run_vendor")),
        sa.PrimaryKeyConstraint("run_id", "vendor", name=op.f("pk_vendor_run")),
        schema="ledger",
        comment="What one run does for one vendor: pointers to the files of each step, and how far it came",
    )
    op.create_index(op.f("ix_vendor_run_vendor"), "vendor_run", ["vendor"], unique=False, schema="ledger")
    op.create_table(
        "batch",
        sa.Column("batch_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the batch"),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("generation", sa.BigInteger(), nullable=False, comment="Generation of the snapshot it was made from"),
        sa.Column(
            "base_version", sa.BigInteger(), nullable=False, comment="Version of the baseline it was made against"
        ),
        sa.Column(
            "sequence",
            sa.Integer(),
            nullable=False,
            comment="Place among the batches of this vendor and generation, from 1",
        ),
        sa.Column("items_path", sa.Text(), nullable=False, comment="Lake: the SKUs and the values sent"),
        sa.Column("snapshot_path", sa.Text(), nullable=False, comment="Lake: the snapshot it was made from"),
        sa.Column("item_count", sa.BigInteger(), nullable=False, comment="SKUs in it"),
        sa.Column("body_bytes", sa.BigInteger(), nullable=False, comment="Exact length of the request body"),
        sa.Column(
            "state",
            sa.Text(),
            server_default="planned",
            nullable=False,
            comment="planned, sent, done, superseded or refused",
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When it was planned",
        ),
        sa.ForeignKeyConstraint(
            ["run_id", "vendor"],
            ["ledger.vendor_run.run_id", "ledger.vendor_run.vendor"],
            name=op.f("fk_batch_run_id_vendor"),
        ),
        sa.PrimaryKeyConstraint("batch_id", name=op.f("pk_batch")),
        sa.UniqueConstraint(
            "run_id", "vendor", "generation", "sequence", name=op.f("uq_batch_run_id_vendor_generation_sequence")
        ),
        schema="ledger",
        comment="One row a request body, committed before anything is sent",
    )
    op.create_table(
        "job",
        sa.Column("job_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Our number of the job"),
        sa.Column("batch_id", sa.BigInteger(), nullable=False, comment="What was sent"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column(
            "platform_job_id",
            sa.Text(),
            nullable=True,
            comment="The platform's number of the job; null until its answer was read",
        ),
        sa.Column(
            "state",
            sa.Text(),
            server_default="submitting",
            nullable=False,
            comment="submitting, open, confirmed, acknowledged, unconfirmed, failed, refused or superseded",
        ),
        sa.Column("sent", sa.BigInteger(), nullable=False, comment="SKUs in the request"),
        sa.Column("accepted", sa.BigInteger(), nullable=True, comment="SKUs with a success line in the log"),
        sa.Column("refused", sa.BigInteger(), nullable=True, comment="SKUs with an error line in the log"),
        sa.Column("unaccounted", sa.BigInteger(), nullable=True, comment="SKUs of which the log says nothing"),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False, comment="How often the request left"),
        sa.Column(
            "polls",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="How often the platform was asked about it",
        ),
        sa.Column("next_poll_at", sa.DateTime(timezone=True), nullable=True, comment="When to ask again"),
        sa.Column(
            "platform_status", sa.Text(), nullable=True, comment="The platform's own word for its state, as last heard"
        ),
        sa.Column(
            "feedback",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=True,
            comment="Per-SKU results of the status call, when it gives them",
        ),
        sa.Column(
            "log_url",
            sa.Text(),
            nullable=True,
            comment="Where the log can be fetched, as last heard; may be a secret in itself: never logged",
        ),
        sa.Column("log_path", sa.Text(), nullable=True, comment="Lake: the log as received"),
        sa.Column("outcomes_path", sa.Text(), nullable=True, comment="Lake: one row a SKU sent"),
        sa.Column("error", sa.Text(), nullable=True, comment="Why it did not end well, in one line"),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When the row was committed, before anything was sent",
        ),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True, comment="When the platform's 202 was read"),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True, comment="When waiting ends"),
        sa.Column(
            "settled_at", sa.DateTime(timezone=True), nullable=True, comment="When its outcome was known or given up"
        ),
        sa.CheckConstraint(
            "state IN ('submitting', 'open', 'confirmed', 'acknowledged', 'unconfirmed', 'failed', 'refused', 'superseded')",
            name=op.f("ck_job_state"),
        ),
        sa.CheckConstraint(
            "accepted IS NULL OR sent = accepted + refused + unaccounted", name=op.f("ck_job_conservation")
        ),
        sa.ForeignKeyConstraint(["batch_id"], ["ledger.batch.batch_id"], name=op.f("fk_job_batch_id")),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_job_vendor")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job")),
        schema="ledger",
        comment="One row a request sent; at most one open a vendor (I5)",
    )
    op.create_index(op.f("ix_job_batch_id"), "job", ["batch_id"], unique=False, schema="ledger")
    op.create_index(
        "uq_job_open",
        "job",
        ["vendor"],
        unique=True,
        schema="ledger",
        postgresql_where=sa.text("state IN ('submitting', 'open', 'confirmed')"),
    )
    op.create_index(
        "uq_job_platform_job_id",
        "job",
        ["platform_job_id"],
        unique=True,
        schema="ledger",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.create_table(
        "baseline",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("version", sa.BigInteger(), nullable=False, comment="Grows by one with each acknowledgement"),
        sa.Column("path", sa.Text(), nullable=False, comment="Lake: the acknowledged state"),
        sa.Column("rows", sa.BigInteger(), nullable=False, comment="SKUs in it"),
        sa.Column("generation", sa.BigInteger(), nullable=False, comment="Generation of the job that moved it"),
        sa.Column("job_id", sa.BigInteger(), nullable=False, comment="The job whose log moved it"),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When it moved",
        ),
        sa.ForeignKeyConstraint(["job_id"], ["ledger.job.job_id"], name=op.f("fk_baseline_job_id")),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_baseline_vendor")),
        sa.PrimaryKeyConstraint("vendor", "version", name=op.f("pk_baseline")),
        sa.UniqueConstraint("job_id", name=op.f("uq_baseline_job_id")),
        schema="ledger",
        comment="Every version of every vendor's acknowledged state",
    )
    op.create_table(
        "rejection",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column("reason", sa.Text(), nullable=False, comment="The platform's words"),
        sa.Column(
            "price", sa.Numeric(precision=20, scale=3), nullable=True, comment="The value wanted when it was refused"
        ),
        sa.Column("quantity", sa.BigInteger(), nullable=True, comment="The value wanted when it was refused"),
        sa.Column("active", sa.Boolean(), nullable=True, comment="The value wanted when it was refused"),
        sa.Column("max_sales_quantity", sa.BigInteger(), nullable=True, comment="The value wanted when it was refused"),
        sa.Column("job_id", sa.BigInteger(), nullable=False, comment="The job that refused it last"),
        sa.Column("times", sa.Integer(), server_default="1", nullable=False, comment="How often it was refused"),
        sa.Column(
            "first_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When it was first refused",
        ),
        sa.Column(
            "last_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When it was last refused",
        ),
        sa.ForeignKeyConstraint(["job_id"], ["ledger.job.job_id"], name=op.f("fk_rejection_job_id")),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_rejection_vendor")),
        sa.PrimaryKeyConstraint("vendor", "sku", name=op.f("pk_rejection")),
        schema="ledger",
        comment="SKUs the platform refuses: a delta does not repeat them until the ERP row changes; a full sync tries them once",
    )


def downgrade() -> None:
    op.drop_table("rejection", schema="ledger")
    op.drop_table("baseline", schema="ledger")
    op.drop_index(
        "uq_job_platform_job_id",
        table_name="job",
        schema="ledger",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.drop_index(
        "uq_job_open",
        table_name="job",
        schema="ledger",
        postgresql_where=sa.text("state IN ('submitting', 'open', 'confirmed')"),
    )
    op.drop_index(op.f("ix_job_batch_id"), table_name="job", schema="ledger")
    op.drop_table("job", schema="ledger")
    op.drop_table("batch", schema="ledger")
    op.drop_index(op.f("ix_vendor_run_vendor"), table_name="vendor_run", schema="ledger")
    op.drop_table("vendor_run", schema="ledger")
    op.drop_index(op.f("ix_extract_run_id"), table_name="extract", schema="ledger")
    op.drop_table("extract", schema="ledger")
    op.drop_table("vendor", schema="ledger")
    op.drop_table("token", schema="ledger")
    op.drop_table("run", schema="ledger")
    op.drop_table("platform_check", schema="ledger")
    op.execute("DROP SEQUENCE ledger.generation")
    op.execute("DROP FUNCTION ledger.instant()")
    op.execute("DROP SCHEMA ledger")
