"""The kill switch."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "switch",
        sa.Column(
            "switch_id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="Order in which it was turned",
        ),
        sa.Column("scope", sa.Text(), nullable=False, comment="all, chain or vendor"),
        sa.Column(
            "name",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The chain or the vendor; empty where scope is all",
        ),
        sa.Column(
            "stopped", sa.Boolean(), nullable=False, comment="True: nothing is sent from here on; false: it goes on"
        ),
        sa.Column("why", sa.Text(), nullable=False, comment="The person's reason"),
        sa.Column("who", sa.Text(), nullable=False, comment="The person"),
        sa.Column("turned_at", sa.DateTime(timezone=True), nullable=False, comment="When"),
        sa.CheckConstraint("scope IN ('all', 'chain', 'vendor')", name=op.f("ck_switch_scope")),
        sa.PrimaryKeyConstraint("switch_id", name=op.f("pk_switch")),
        schema="ledger",
        comment="One row a turn of a kill switch; of a scope and name the newest row counts, nothing is ever changed or removed",
    )
    op.create_index("ix_switch_scope_name", "switch", ["scope", "name", "switch_id"], schema="ledger")


def downgrade() -> None:
    op.drop_table("switch", schema="ledger")
