"""Leases: who works on a vendor's jobs, with a fencing number."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.execute("CREATE SEQUENCE ledger.lease_number")
    op.create_table(
        "lease",
        sa.Column("vendor", sa.Text(), nullable=False, comment="The vendor whose jobs it is about"),
        sa.Column(
            "number",
            sa.BigInteger(),
            nullable=False,
            comment="Fencing: who does not find its own number here writes nothing",
        ),
        sa.Column("holder", sa.Text(), nullable=False, comment="Machine and process, for people"),
        sa.Column(
            "locked",
            sa.Boolean(),
            nullable=False,
            comment="The holder has the session lock as well: whoever gets that knows that the holder is gone",
        ),
        sa.Column(
            "taken_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Since when",
        ),
        sa.Column(
            "until_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="Until when nobody takes it over from a living session; moves on with every write and every request",
        ),
        sa.PrimaryKeyConstraint("vendor", name=op.f("pk_lease")),
        schema="ledger",
        comment="Who works on a vendor's jobs; one whose time is up is free",
    )


def downgrade() -> None:
    op.drop_table("lease", schema="ledger")
    op.execute("DROP SEQUENCE ledger.lease_number")
