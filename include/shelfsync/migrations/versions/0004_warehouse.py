"""The warehouse: runs, jobs, per-SKU outcomes, quarantine, the acknowledged state."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.execute("CREATE SCHEMA IF NOT EXISTS warehouse")

    op.create_table(
        "sync_run",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Number of the run"),
        sa.Column(
            "run_key", sa.Text(), nullable=False, comment="DAG and run id in Airflow, or the command line's own name"
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="full or delta"),
        sa.Column("dry_run", sa.Boolean(), nullable=False, comment="True: nothing was sent"),
        sa.Column("state", sa.Text(), nullable=False, comment="running, succeeded, partly_failed or failed"),
        sa.Column(
            "error", sa.Text(), nullable=True, comment="What a person should read first, when it did not succeed"
        ),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, comment="When it began"),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True, comment="When it ended"),
        sa.Column("vendors", sa.BigInteger(), server_default="0", nullable=False, comment="Vendors in it"),
        sa.Column("vendors_failed", sa.BigInteger(), server_default="0", nullable=False, comment="Vendors that failed"),
        sa.Column("rows_raw", sa.BigInteger(), server_default="0", nullable=False, comment="Rows read from the ERP"),
        sa.Column(
            "rows_quarantined",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="Rows that could not be sent",
        ),
        sa.Column(
            "skus_changed",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="SKUs with a change (new, changed or removed)",
        ),
        sa.Column("skus_sent", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs sent"),
        sa.Column("skus_accepted", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs accepted"),
        sa.Column("skus_refused", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs refused"),
        sa.Column(
            "skus_unaccounted",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="SKUs of which the platform said nothing",
        ),
        sa.Column("skus_held", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs that a guard held"),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_sync_run")),
        schema="warehouse",
        comment="One row a run of the catalog path",
    )
    op.create_index("ix_sync_run_started_at", "sync_run", ["started_at"], unique=False, schema="warehouse")
    op.create_table(
        "vendor",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The platform's identifier of the store"),
        sa.Column(
            "first_seen_at", sa.DateTime(timezone=True), nullable=False, comment="When it was first in an extract"
        ),
        sa.PrimaryKeyConstraint("vendor", name=op.f("pk_vendor")),
        schema="warehouse",
        comment="One row a vendor",
    )
    op.create_table(
        "catalog_job",
        sa.Column("job_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Our number of the job"),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("platform_job_id", sa.Text(), nullable=True, comment="The platform's number of the job"),
        sa.Column("state", sa.Text(), nullable=False, comment="How it ended"),
        sa.Column("generation", sa.BigInteger(), nullable=False, comment="Order of the snapshot it came from"),
        sa.Column("body_bytes", sa.BigInteger(), nullable=False, comment="Length of the request body"),
        sa.Column("sent", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs in the request"),
        sa.Column("accepted", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs accepted"),
        sa.Column("refused", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs refused"),
        sa.Column(
            "unaccounted", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs of which nothing was said"
        ),
        sa.Column("error", sa.Text(), nullable=True, comment="Why it did not end well"),
        sa.Column(
            "sent_at", sa.DateTime(timezone=True), nullable=False, comment="When the request was committed to leave"
        ),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True, comment="When the platform took it"),
        sa.Column(
            "settled_at", sa.DateTime(timezone=True), nullable=True, comment="When its outcome was known or given up"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["warehouse.sync_run.run_id"], name=op.f("fk_catalog_job_run_id")),
        sa.ForeignKeyConstraint(["vendor"], ["warehouse.vendor.vendor"], name=op.f("fk_catalog_job_vendor")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_catalog_job")),
        schema="warehouse",
        comment="One row a catalog job",
    )
    op.create_index(op.f("ix_catalog_job_run_id"), "catalog_job", ["run_id"], unique=False, schema="warehouse")
    op.create_index(
        "ix_catalog_job_vendor_sent_at", "catalog_job", ["vendor", "sent_at"], unique=False, schema="warehouse"
    )
    op.create_table(
        "quarantine",
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run"),
        sa.Column(
            "row_number",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="Place of the row in the extract, from 1",
        ),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=True, comment="The SKU, as far as there is one"),
        sa.Column("field", sa.Text(), nullable=False, comment="What is wrong with the row"),
        sa.Column("reason", sa.Text(), nullable=False, comment="The kind of fault, a stable word"),
        sa.Column("message", sa.Text(), nullable=False, comment="The fault in a sentence"),
        sa.Column("raw", sa.Text(), nullable=False, comment="The whole row as it came, as JSON text"),
        sa.ForeignKeyConstraint(["run_id"], ["warehouse.sync_run.run_id"], name=op.f("fk_quarantine_run_id")),
        sa.PrimaryKeyConstraint("run_id", "row_number", name=op.f("pk_quarantine")),
        schema="warehouse",
        comment="Rows of the ERP that cannot be sent, with the reason: work for people",
    )
    op.create_index("ix_quarantine_vendor_sku", "quarantine", ["vendor", "sku"], unique=False, schema="warehouse")
    op.create_table(
        "baseline",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column("price", sa.Numeric(precision=20, scale=3), nullable=True, comment="Price last acknowledged"),
        sa.Column(
            "quantity",
            sa.BigInteger(),
            nullable=True,
            comment="Quantity last acknowledged; the platform compares it with its sales buffer and forgets it",
        ),
        sa.Column("active", sa.Boolean(), nullable=True, comment="Availability last acknowledged"),
        sa.Column(
            "max_sales_quantity",
            sa.BigInteger(),
            nullable=True,
            comment="Most pieces an order may hold, last acknowledged",
        ),
        sa.Column("job_id", sa.BigInteger(), nullable=False, comment="The job that moved it last"),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=False, comment="When it moved last"),
        sa.ForeignKeyConstraint(["job_id"], ["warehouse.catalog_job.job_id"], name=op.f("fk_baseline_job_id")),
        sa.ForeignKeyConstraint(["vendor"], ["warehouse.vendor.vendor"], name=op.f("fk_baseline_vendor")),
        sa.PrimaryKeyConstraint("vendor", "sku", name=op.f("pk_baseline")),
        schema="warehouse",
        comment="What the platform has acknowledged, now: one row a vendor and SKU",
    )
    op.create_table(
        "sku_outcome",
        sa.Column("job_id", sa.BigInteger(), nullable=False, comment="The job"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU as it was sent"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("state", sa.Text(), nullable=False, comment="accepted, refused or unaccounted"),
        sa.Column("reason", sa.Text(), nullable=True, comment="The platform's words when it was not accepted"),
        sa.Column("change", sa.Text(), nullable=False, comment="new, changed, removed or same"),
        sa.Column("price", sa.Numeric(precision=20, scale=3), nullable=True, comment="Price sent; null: not sent"),
        sa.Column(
            "quantity",
            sa.BigInteger(),
            nullable=True,
            comment="Quantity sent; null: not sent; the platform compares it with its sales buffer and forgets it",
        ),
        sa.Column("active", sa.Boolean(), nullable=True, comment="Availability sent; null: not sent"),
        sa.Column(
            "max_sales_quantity",
            sa.BigInteger(),
            nullable=True,
            comment="Most pieces an order may hold, sent; null: not sent",
        ),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=False, comment="When it was known"),
        sa.CheckConstraint("state IN ('accepted', 'refused', 'unaccounted')", name=op.f("ck_sku_outcome_state")),
        sa.ForeignKeyConstraint(["job_id"], ["warehouse.catalog_job.job_id"], name=op.f("fk_sku_outcome_job_id")),
        sa.ForeignKeyConstraint(["vendor"], ["warehouse.vendor.vendor"], name=op.f("fk_sku_outcome_vendor")),
        sa.PrimaryKeyConstraint("job_id", "sku", name=op.f("pk_sku_outcome")),
        schema="warehouse",
        comment="What became of each SKU of each job: exactly one row for every SKU sent",
    )
    op.create_index(
        "ix_sku_outcome_not_accepted",
        "sku_outcome",
        ["vendor", "state"],
        unique=False,
        schema="warehouse",
        postgresql_where=sa.text("state <> 'accepted'"),
    )
    op.create_index(
        "ix_sku_outcome_vendor_sku", "sku_outcome", ["vendor", "sku", "settled_at"], unique=False, schema="warehouse"
    )


def downgrade() -> None:
    op.drop_index("ix_sku_outcome_vendor_sku", table_name="sku_outcome", schema="warehouse")
    op.drop_index(
        "ix_sku_outcome_not_accepted",
        table_name="sku_outcome",
        schema="warehouse",
        postgresql_where=sa.text("state <> 'accepted'"),
    )
    op.drop_table("sku_outcome", schema="warehouse")
    op.drop_table("baseline", schema="warehouse")
    op.drop_index("ix_quarantine_vendor_sku", table_name="quarantine", schema="warehouse")
    op.drop_table("quarantine", schema="warehouse")
    op.drop_index("ix_catalog_job_vendor_sent_at", table_name="catalog_job", schema="warehouse")
    op.drop_index(op.f("ix_catalog_job_run_id"), table_name="catalog_job", schema="warehouse")
    op.drop_table("catalog_job", schema="warehouse")
    op.drop_table("vendor", schema="warehouse")
    op.drop_index("ix_sync_run_started_at", table_name="sync_run", schema="warehouse")
    op.drop_table("sync_run", schema="warehouse")

    op.execute("DROP SCHEMA warehouse")
