"""Per-SKU outcomes by months: what is there moves into the partition of its month."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_NAMES = ("pk_sku_outcome", "ix_sku_outcome_vendor_sku", "ix_sku_outcome_not_accepted")
_MOVE = """
INSERT INTO warehouse.sku_outcome
    (job_id, sku, settled_at, vendor, state, reason, change, price, quantity, active, max_sales_quantity)
SELECT job_id, sku, settled_at, vendor, state, reason, change, price, quantity, active, max_sales_quantity
FROM warehouse.sku_outcome_before
"""
_PARTITIONS = """
DO $$
DECLARE first date;
BEGIN
    FOR first IN SELECT DISTINCT date_trunc('month', settled_at AT TIME ZONE 'UTC')::date FROM warehouse.sku_outcome_before LOOP
        EXECUTE format(
            'CREATE TABLE partition.%I PARTITION OF warehouse.sku_outcome FOR VALUES FROM (%L) TO (%L)',
            'sku_outcome_' || to_char(first, 'YYYY_MM'),
            to_char(first, 'YYYY-MM-DD') || ' 00:00:00+00',
            to_char(first + interval '1 month', 'YYYY-MM-DD') || ' 00:00:00+00');
    END LOOP;
END $$
"""


def _values() -> list[sa.Column[object]]:
    return [
        sa.Column("price", sa.Numeric(20, 3), nullable=True, comment="Price sent; null: not sent"),
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
    ]


def _aside(*, back: bool) -> None:
    """Makes room for a table of the same name, whose keys and indexes have the same names too."""
    op.rename_table("sku_outcome", "sku_outcome_before", schema="warehouse")
    for name in _NAMES:
        op.execute(f"ALTER INDEX warehouse.{name} RENAME TO {name}_before")
    if not back:
        op.execute("ALTER TABLE warehouse.sku_outcome_before RENAME CONSTRAINT ck_sku_outcome_state TO ck_before")


def _indexes() -> None:
    op.create_index("ix_sku_outcome_vendor_sku", "sku_outcome", ["vendor", "sku", "settled_at"], schema="warehouse")
    op.create_index(
        "ix_sku_outcome_not_accepted",
        "sku_outcome",
        ["vendor", "state"],
        schema="warehouse",
        postgresql_where=sa.text("state <> 'accepted'"),
    )


def upgrade() -> None:
    _aside(back=False)
    op.create_table(
        "sku_outcome",
        sa.Column("job_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The job"),
        sa.Column("sku", sa.Text(), nullable=False, comment="The SKU as it was sent"),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=False, comment="When it was known"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("state", sa.Text(), nullable=False, comment="accepted, refused or unaccounted"),
        sa.Column("reason", sa.Text(), nullable=True, comment="The platform's words when it was not accepted"),
        sa.Column("change", sa.Text(), nullable=False, comment="new, changed, removed or same"),
        *_values(),
        sa.CheckConstraint("state IN ('accepted', 'refused', 'unaccounted')", name=op.f("ck_sku_outcome_state")),
        sa.PrimaryKeyConstraint("job_id", "sku", "settled_at", name=op.f("pk_sku_outcome")),
        schema="warehouse",
        comment="What became of each SKU of each job: exactly one row for every SKU sent; by months, kept as set",
        postgresql_partition_by="RANGE (settled_at)",
    )
    op.execute(_PARTITIONS)
    op.execute(_MOVE)
    op.drop_table("sku_outcome_before", schema="warehouse")
    _indexes()


def downgrade() -> None:
    _aside(back=True)
    op.create_table(
        "sku_outcome",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("sku", sa.Text(), nullable=False),
        sa.Column("vendor", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("change", sa.Text(), nullable=False),
        *_values(),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("state IN ('accepted', 'refused', 'unaccounted')", name=op.f("ck_sku_outcome_state")),
        sa.ForeignKeyConstraint(["job_id"], ["warehouse.catalog_job.job_id"], name=op.f("fk_sku_outcome_job_id")),
        sa.ForeignKeyConstraint(["vendor"], ["warehouse.vendor.vendor"], name=op.f("fk_sku_outcome_vendor")),
        sa.PrimaryKeyConstraint("job_id", "sku", name=op.f("pk_sku_outcome")),
        schema="warehouse",
    )
    op.execute(_MOVE)
    op.drop_table("sku_outcome_before", schema="warehouse")
    _indexes()
