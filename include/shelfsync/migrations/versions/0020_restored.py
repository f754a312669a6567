"""A restoration points to the state it brings back, whether or not that version of the baseline still has a row."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_PATH = "Lake: the acknowledged state that is wanted again"


def upgrade() -> None:
    op.drop_constraint("fk_restoration_vendor_baseline", "restoration", schema="ledger", type_="foreignkey")
    op.drop_index("ix_restoration_vendor_version", "restoration", schema="ledger")
    op.create_index("ix_restoration_vendor", "restoration", ["vendor", "restoration_id"], schema="ledger")
    op.drop_column("restoration", "version", schema="ledger")
    op.alter_column("restoration", "path", comment=_PATH, schema="ledger")


def downgrade() -> None:
    op.add_column("restoration", sa.Column("version", sa.BigInteger(), nullable=True), schema="ledger")
    op.drop_index("ix_restoration_vendor", "restoration", schema="ledger")
    op.create_index("ix_restoration_vendor_version", "restoration", ["vendor", "version"], schema="ledger")
