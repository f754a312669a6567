"""What is planned is found without reading a month of batches, most of them while the vendor's row is locked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    planned = sa.text("state = 'planned'")
    op.create_index("ix_batch_planned", "batch", ["vendor"], schema="ledger", postgresql_where=planned)


def downgrade() -> None:
    op.drop_index("ix_batch_planned", "batch", schema="ledger")
