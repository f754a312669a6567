"""Holds and what is usual: slices that a guard keeps back with the decision about each, and what every extract was like."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "feed",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("generation", sa.BigInteger(), nullable=False, comment="Order of this extract among the vendor's"),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The run that read it"),
        sa.Column(
            "snapshot_path",
            sa.Text(),
            nullable=False,
            comment="Lake: its canonical rows; the same path is the same rows",
        ),
        sa.Column("rows", sa.BigInteger(), nullable=False, comment="Rows of the extract, those in quarantine too"),
        sa.Column(
            "categories_path",
            sa.Text(),
            nullable=True,
            comment="Lake: SKU and category as last said; null: nobody ever said one",
        ),
        sa.Column(
            "trusted",
            sa.Boolean(),
            nullable=False,
            comment="False: a guard doubts the extract as a whole and nobody has decided; it is no measure for the next",
        ),
        sa.Column("read_at", sa.DateTime(timezone=True), nullable=False, comment="When a guard looked at it"),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_feed_vendor")),
        sa.PrimaryKeyConstraint("vendor", "generation", name=op.f("pk_feed")),
        schema="ledger",
        comment="One row a guarded extract of a vendor: the measure of what is usual",
    )
    op.create_index("ix_feed_vendor_snapshot_path", "feed", ["vendor", "snapshot_path"], unique=False, schema="ledger")
    op.create_table(
        "hold",
        sa.Column("hold_id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Number of the hold"),
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor"),
        sa.Column("first_run_id", sa.BigInteger(), nullable=False, comment="The run that held it first"),
        sa.Column("run_id", sa.BigInteger(), nullable=False, comment="The newest run that holds the very same rows"),
        sa.Column("generation", sa.BigInteger(), nullable=False, comment="Generation of the snapshot of that run"),
        sa.Column("rule", sa.Text(), nullable=False, comment="The guard, by its word"),
        sa.Column("category", sa.Text(), nullable=True, comment="The category it is about; null: the whole vendor"),
        sa.Column("message", sa.Text(), nullable=False, comment="One sentence for the person who decides"),
        sa.Column("thresholds", JSONB(), nullable=False, comment="The thresholds that were used"),
        sa.Column(
            "rows_path", sa.Text(), nullable=False, comment="Lake: the rows held, with nothing in them but what is held"
        ),
        sa.Column("rows", sa.BigInteger(), nullable=False, comment="How many"),
        sa.Column(
            "state",
            sa.Text(),
            server_default="open",
            nullable=False,
            comment="open, approved, rejected, expired or superseded",
        ),
        sa.Column(
            "asked_by",
            sa.Text(),
            nullable=True,
            comment="The run of Airflow that asks about it; null: nobody was asked there",
        ),
        sa.Column("decided_by", sa.Text(), nullable=True, comment="Who decided, or what"),
        sa.Column("why", sa.Text(), nullable=True, comment="The reason given, in one line"),
        sa.Column(
            "superseded_by",
            sa.BigInteger(),
            nullable=True,
            comment="The run whose extract does not have these rows any more",
        ),
        sa.Column("held_at", sa.DateTime(timezone=True), nullable=False, comment="When it was first held"),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False, comment="When waiting for a person ends"),
        sa.Column(
            "decided_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When it was decided, superseded or expired",
        ),
        sa.Column(
            "released_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When its rows were planned to be sent, after an approval",
        ),
        sa.CheckConstraint(
            "state IN ('open', 'approved', 'rejected', 'expired', 'superseded')", name=op.f("ck_hold_state")
        ),
        sa.ForeignKeyConstraint(["vendor"], ["ledger.vendor.vendor"], name=op.f("fk_hold_vendor")),
        sa.PrimaryKeyConstraint("hold_id", name=op.f("pk_hold")),
        schema="ledger",
        comment="One row a slice that a guard held, with the decision; nothing is ever removed",
    )
    op.create_index("ix_hold_vendor_state", "hold", ["vendor", "state"], unique=False, schema="ledger")


def downgrade() -> None:
    op.drop_table("hold", schema="ledger")
    op.drop_table("feed", schema="ledger")
