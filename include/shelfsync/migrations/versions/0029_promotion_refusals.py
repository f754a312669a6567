"""Refused pairs of promotions are found by their job, so that an old job can be removed without reading them all."""

from __future__ import annotations

from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    op.create_index("ix_promotion_rejection_job_id", "promotion_rejection", ["job_id"], schema="ledger")


def downgrade() -> None:
    op.drop_index("ix_promotion_rejection_job_id", "promotion_rejection", schema="ledger")
