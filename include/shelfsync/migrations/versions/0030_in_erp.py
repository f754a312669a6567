"""Whether the ERP has a product may be unknown: an extract that is not proven to be complete says nothing by what it passes over."""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"

_BEFORE = "Whether the ERP has it"
_SINCE = "Whether the ERP has it, a row in quarantine too; null: unknown, it was not read yet or passes over the SKU unproven"


def upgrade() -> None:
    op.alter_column("product", "in_erp", nullable=True, comment=_SINCE, schema="warehouse")


def downgrade() -> None:
    op.execute("UPDATE warehouse.product SET in_erp = false WHERE in_erp IS NULL")
    op.alter_column("product", "in_erp", nullable=False, comment=_BEFORE, schema="warehouse")
