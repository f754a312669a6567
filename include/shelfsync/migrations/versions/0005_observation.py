"""What the platform was seen to show of a vendor."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def _time(name: str, comment: str) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, comment=comment)


def upgrade() -> None:
    op.create_table(
        "observation",
        sa.Column("observation_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of it"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor that was seen"),
        sa.Column("how", sa.Text(), nullable=False, comment="export or listing"),
        sa.Column("path", sa.Text(), nullable=False, comment="Lake: what was shown, a row a SKU"),
        sa.Column("raw_path", sa.Text(), nullable=True, comment="Lake: the file as it came"),
        sa.Column(
            "extra_path", sa.Text(), nullable=True, comment="Lake: its columns that nobody knows; null: it had none"
        ),
        sa.Column("rows", sa.BigInteger(), nullable=False, comment="SKUs shown"),
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
        _time("observed_at", "When it was asked for: it shows no older state"),
        _time("ended_at", "When it had come: it shows no newer state"),
        sa.CheckConstraint("how IN ('export', 'listing')", name=op.f("ck_observation_how")),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_observation_vendor_vendor")),
        sa.PrimaryKeyConstraint("observation_id", name=op.f("pk_observation")),
        schema="ledger",
        comment="What the platform was seen to show of a vendor, one row a picture",
    )
    op.create_index(
        "ix_observation_vendor_observed_at",
        "observation",
        ["vendor", "observed_at", "observation_id"],
        schema="ledger",
    )


def downgrade() -> None:
    op.drop_table("observation", schema="ledger")
