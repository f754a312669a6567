"""Restorations: a past state wanted for a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"


def _time(name: str, comment: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, comment=comment)


def upgrade() -> None:
    op.create_table(
        "restoration",
        sa.Column("restoration_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of it"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("skus", postgresql.ARRAY(sa.Text()), nullable=True, comment="The SKUs; null: the whole assortment"),
        sa.Column("version", sa.BigInteger(), nullable=False, comment="Version of the baseline that is wanted again"),
        sa.Column("path", sa.Text(), nullable=False, comment="Lake: that baseline"),
        _time("state_at", "The instant whose state is wanted"),
        _time("until_at", "When the ERP counts again"),
        sa.Column("why", sa.Text(), nullable=False, comment="The person's reason"),
        sa.Column("who", sa.Text(), nullable=False, comment="The person"),
        _time("begun_at", "When it was ordered"),
        _time("ended_at", "When somebody ended it before its time", nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True, comment="Who ended it"),
        sa.CheckConstraint("until_at > begun_at", name=op.f("ck_restoration_span")),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_restoration_vendor_vendor")),
        sa.ForeignKeyConstraint(
            ["vendor", "version"],
            ["ledger.baseline.vendor", "ledger.baseline.version"],
            name=op.f("fk_restoration_vendor_baseline"),
        ),
        sa.PrimaryKeyConstraint("restoration_id", name=op.f("pk_restoration")),
        schema="ledger",
        comment="A past acknowledged state that is wanted for a time instead of what the ERP says",
    )
    op.create_index("ix_restoration_vendor", "restoration", ["vendor", "restoration_id"], schema="ledger")


def downgrade() -> None:
    op.drop_table("restoration", schema="ledger")
