"""Exports as jobs, what the platform showed as history, drift and its healings, and every value ever acknowledged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.execute("CREATE SCHEMA partition")
    op.create_table(
        "assortment_history",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column(
            "valid_from",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="The picture that first showed these values: they may be up to one picture older",
        ),
        sa.Column(
            "valid_to",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="The picture that first showed others, or the SKU no more; null: still shown",
        ),
        sa.Column("barcode", sa.Text(), nullable=True, comment="Barcode shown, without padding"),
        sa.Column("price", sa.Numeric(precision=20, scale=3), nullable=True, comment="Price shown"),
        sa.Column("active", sa.Boolean(), nullable=True, comment="Whether it was on sale"),
        sa.Column(
            "max_sales_quantity",
            sa.BigInteger(),
            nullable=True,
            comment="Most pieces an order may hold; null: no limit",
        ),
        sa.PrimaryKeyConstraint("vendor", "sku", "valid_from", name=op.f("pk_assortment_history")),
        schema="warehouse",
        comment="What the platform showed of each SKU and when (type 2): one row a span of unchanged values",
    )
    op.create_table(
        "baseline_history",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column(
            "version",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="Version of the vendor's baseline from which on it holds",
        ),
        sa.Column(
            "valid_from",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When the baseline moved; it holds until the next row of this SKU",
        ),
        sa.Column(
            "price", sa.Numeric(precision=20, scale=3), nullable=True, comment="Price acknowledged; null: unknown"
        ),
        sa.Column("quantity", sa.BigInteger(), nullable=True, comment="Quantity acknowledged; null: unknown"),
        sa.Column("active", sa.Boolean(), nullable=True, comment="Availability acknowledged; null: unknown"),
        sa.Column(
            "max_sales_quantity", sa.BigInteger(), nullable=True, comment="Sales limit acknowledged; null: unknown"
        ),
        sa.Column("job_id", sa.BigInteger(), nullable=True, comment="The job whose log moved it; null: a picture did"),
        sa.Column(
            "observation_id",
            sa.BigInteger(),
            nullable=True,
            comment="The picture that settled it or made it unknown; null: a job moved it",
        ),
        sa.PrimaryKeyConstraint("vendor", "sku", "version", "valid_from", name=op.f("pk_baseline_history")),
        schema="warehouse",
        comment="What was acknowledged of each SKU and from when on: one row a change, by job or by picture",
        postgresql_partition_by="RANGE (valid_from)",
    )
    op.create_table(
        "product",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column(
            "barcode",
            sa.Text(),
            nullable=True,
            comment="The barcode as the ERP writes it, else as the platform shows it",
        ),
        sa.Column("in_erp", sa.Boolean(), nullable=False, comment="Whether the ERP has it"),
        sa.Column("on_platform", sa.Boolean(), nullable=False, comment="Whether the platform shows it, on sale or not"),
        sa.Column("active_wanted", sa.Boolean(), nullable=True, comment="What the ERP says of its availability"),
        sa.Column("active_shown", sa.Boolean(), nullable=True, comment="Whether it is on sale on the platform"),
        sa.Column(
            "first_seen_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="The picture at which it was first known",
        ),
        sa.Column(
            "seen_at", sa.DateTime(timezone=True), nullable=False, comment="The last picture that changed anything here"
        ),
        sa.PrimaryKeyConstraint("vendor", "sku", name=op.f("pk_product")),
        schema="warehouse",
        comment="Every SKU of a vendor that ERP or platform ever had, as of the vendor's newest picture",
    )
    op.create_table(
        "observation",
        sa.Column(
            "observation_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="Number of the picture"
        ),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("how", sa.Text(), nullable=False, comment="export or listing"),
        sa.Column("path", sa.Text(), nullable=False, comment="Lake: what was shown, a row a SKU"),
        sa.Column(
            "in_history",
            sa.Boolean(),
            nullable=False,
            comment="False: it came after a newer one, so the history passed it by",
        ),
        sa.Column("rows", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs shown"),
        sa.Column(
            "rows_new", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs that were not shown before"
        ),
        sa.Column(
            "rows_changed",
            sa.BigInteger(),
            server_default="0",
            nullable=False,
            comment="SKUs shown with another value than before",
        ),
        sa.Column(
            "rows_gone", sa.BigInteger(), server_default="0", nullable=False, comment="SKUs that are shown no more"
        ),
        sa.Column(
            "observed_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When it was asked for: it shows no older state",
        ),
        sa.Column("loaded_at", sa.DateTime(timezone=True), nullable=False, comment="When it was loaded"),
        sa.ForeignKeyConstraint(["vendor"], ["warehouse.vendor.vendor"], name=op.f("fk_observation_vendor")),
        sa.PrimaryKeyConstraint("observation_id", name=op.f("pk_observation")),
        schema="warehouse",
        comment="One row a picture of a vendor that was loaded, each file once",
    )
    op.create_index("ix_observation_vendor", "observation", ["vendor", "observed_at"], unique=False, schema="warehouse")
    op.create_table(
        "export",
        sa.Column("export_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Our number of it"),
        sa.Column(
            "run_key", sa.Text(), nullable=False, comment="DAG and run id in Airflow, or the command line's own name"
        ),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column(
            "state",
            sa.Text(),
            server_default="planned",
            nullable=False,
            comment="planned, requesting, open, observed, reconciled or failed",
        ),
        sa.Column(
            "platform_job_id",
            sa.Text(),
            nullable=True,
            comment="The platform's number of the job; null until its answer was read",
        ),
        sa.Column(
            "platform_status", sa.Text(), nullable=True, comment="The platform's own word for its state, as last heard"
        ),
        sa.Column(
            "log_url",
            sa.Text(),
            nullable=True,
            comment="Where the file can be fetched, as last heard; may be a secret in itself: never logged",
        ),
        sa.Column(
            "polls",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="How often the platform was asked about it",
        ),
        sa.Column(
            "last_job_id",
            sa.BigInteger(),
            nullable=True,
            comment="Newest job of the vendor when it was asked for; null: none",
        ),
        sa.Column(
            "open_job_id",
            sa.BigInteger(),
            nullable=True,
            comment="Job of the vendor that was open when it was asked for",
        ),
        sa.Column("observation_id", sa.BigInteger(), nullable=True, comment="The picture it became"),
        sa.Column(
            "drifts",
            sa.BigInteger(),
            nullable=True,
            comment="Values that differ from what is wanted or was acknowledged",
        ),
        sa.Column("healed", sa.BigInteger(), nullable=True, comment="Of them, values that the next delta says again"),
        sa.Column(
            "settled", sa.BigInteger(), nullable=True, comment="Values whose lost confirmation the picture stands for"
        ),
        sa.Column("failed_step", sa.Text(), nullable=True, comment="The step that failed"),
        sa.Column("error", sa.Text(), nullable=True, comment="Why, in one line"),
        sa.Column(
            "requested_at", sa.DateTime(timezone=True), nullable=True, comment="When the request was about to leave"
        ),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True, comment="When the platform's 202 was read"),
        sa.Column("next_poll_at", sa.DateTime(timezone=True), nullable=True, comment="When to ask again"),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True, comment="When waiting ends"),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True, comment="When it was observed or given up"),
        sa.CheckConstraint(
            "state IN ('planned', 'requesting', 'open', 'observed', 'reconciled', 'failed')",
            name=op.f("ck_export_state"),
        ),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["ledger.observation.observation_id"], name=op.f("fk_export_observation_id")
        ),
        sa.PrimaryKeyConstraint("export_id", name=op.f("pk_export")),
        sa.UniqueConstraint("run_key", "vendor", name=op.f("uq_export_run_key_vendor")),
        schema="ledger",
        comment="One row an export that was asked for",
    )
    op.create_index("ix_export_vendor", "export", ["vendor", "export_id"], unique=False, schema="ledger")
    op.create_index(
        "uq_export_platform_job_id",
        "export",
        ["platform_job_id"],
        unique=True,
        schema="ledger",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.create_table(
        "healing",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column("field", sa.Text(), nullable=False, comment="The value that differed; sku: it was not shown at all"),
        sa.Column("observation_id", sa.BigInteger(), nullable=False, comment="The picture that showed it"),
        sa.Column(
            "healed_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When the next delta was made to say it again",
        ),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["ledger.observation.observation_id"], name=op.f("fk_healing_observation_id")
        ),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_healing_vendor")),
        sa.PrimaryKeyConstraint("vendor", "sku", "field", "observation_id", name=op.f("pk_healing")),
        schema="ledger",
        comment="One row a drift that was healed; a drift that returns after several becomes a rejection",
    )
    op.create_table(
        "drift",
        sa.Column("observation_id", sa.BigInteger(), nullable=False, comment="The picture that showed it"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU"),
        sa.Column("field", sa.Text(), nullable=False, comment="The value that differs; sku: it is not shown at all"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column(
            "cause",
            sa.Text(),
            nullable=False,
            comment="never_sent, refused, held, acknowledged_not_applied, changed_on_platform, export_older_than_change or unknown",
        ),
        sa.Column(
            "action",
            sa.Text(),
            nullable=False,
            comment="heal: the next delta says it again; report, ignore: as set; reject: it came back too often",
        ),
        sa.Column(
            "desired",
            sa.Text(),
            nullable=True,
            comment="What the ERP wants; null: it says nothing, or nobody can know what comes of it",
        ),
        sa.Column(
            "acknowledged", sa.Text(), nullable=True, comment="What the platform had accepted; null: nothing is known"
        ),
        sa.Column("observed", sa.Text(), nullable=True, comment="What the platform shows"),
        sa.Column("message", sa.Text(), nullable=False, comment="Why it has this cause, in a sentence"),
        sa.Column("observed_at", sa.DateTime(timezone=True), nullable=False, comment="When the picture was asked for"),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["warehouse.observation.observation_id"], name=op.f("fk_drift_observation_id")
        ),
        sa.PrimaryKeyConstraint("observation_id", "sku", "field", name=op.f("pk_drift")),
        schema="warehouse",
        comment="Every value that the platform showed otherwise than wanted or acknowledged, one row a picture, SKU and field",
    )
    op.create_index("ix_drift_vendor_sku", "drift", ["vendor", "sku", "observed_at"], unique=False, schema="warehouse")
    op.add_column(
        "baseline",
        sa.Column(
            "observation_id",
            sa.BigInteger(),
            nullable=True,
            comment="The picture that settled or healed something in it; null: a job moved it",
        ),
        schema="ledger",
    )
    op.alter_column(
        "baseline",
        "job_id",
        existing_type=sa.BIGINT(),
        nullable=True,
        comment="The job whose log moved it; null: a picture did",
        existing_comment="The job whose log moved it",
        schema="ledger",
    )
    op.create_unique_constraint(op.f("uq_baseline_observation_id"), "baseline", ["observation_id"], schema="ledger")
    op.create_check_constraint(
        op.f("ck_baseline_moved_by"), "baseline", "(job_id IS NULL) <> (observation_id IS NULL)", schema="ledger"
    )


def downgrade() -> None:
    op.drop_constraint(op.f("ck_baseline_moved_by"), "baseline", schema="ledger", type_="check")
    op.execute("DELETE FROM ledger.baseline WHERE job_id IS NULL")
    op.drop_constraint(op.f("uq_baseline_observation_id"), "baseline", schema="ledger", type_="unique")
    op.alter_column(
        "baseline",
        "job_id",
        existing_type=sa.BIGINT(),
        nullable=False,
        comment="The job whose log moved it",
        existing_comment="The job whose log moved it; null: a picture did",
        schema="ledger",
    )
    op.drop_column("baseline", "observation_id", schema="ledger")
    op.drop_index("ix_drift_vendor_sku", table_name="drift", schema="warehouse")
    op.drop_table("drift", schema="warehouse")
    op.drop_table("healing", schema="ledger")
    op.drop_index(
        "uq_export_platform_job_id",
        table_name="export",
        schema="ledger",
        postgresql_where=sa.text("platform_job_id IS NOT NULL"),
    )
    op.drop_index("ix_export_vendor", table_name="export", schema="ledger")
    op.drop_table("export", schema="ledger")
    op.drop_index("ix_observation_vendor", table_name="observation", schema="warehouse")
    op.drop_table("observation", schema="warehouse")
    op.drop_table("product", schema="warehouse")
    op.drop_table("baseline_history", schema="warehouse")
    op.drop_table("assortment_history", schema="warehouse")
    op.execute("DROP SCHEMA partition")
