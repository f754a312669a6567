"""When the ERP was read for each job; the views read it, and are made after every migration by `shelfsync.warehouse.views`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_FILL = """
UPDATE warehouse.catalog_job AS told SET read_at = extract.read_at
FROM ledger.job JOIN ledger.batch USING (batch_id)
JOIN ledger.vendor_run AS row ON row.run_id = batch.run_id AND row.vendor = batch.vendor AND row.generation = batch.generation
JOIN ledger.extract USING (extract_id)
WHERE job.job_id = told.job_id
"""


def upgrade() -> None:
    op.add_column(
        "catalog_job",
        sa.Column(
            "read_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the ERP was read for it; null: that reading was replaced by a later one",
        ),
        schema="warehouse",
    )
    op.execute(_FILL)


def downgrade() -> None:
    op.drop_column("catalog_job", "read_at", schema="warehouse")
