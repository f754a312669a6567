"""How the end of a job was heard of: a webhook that does not come is seen by what had to be asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    column = sa.Column(
        "heard_by",
        sa.Text(),
        comment="How its end was first heard of: webhook, or question where none had come; null: nobody told, or not yet",
    )
    op.add_column("catalog_job", column, schema="warehouse")


def downgrade() -> None:
    op.drop_column("catalog_job", "heard_by", schema="warehouse")
