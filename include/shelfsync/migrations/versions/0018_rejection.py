"""Rejections: for good or for now, what releases them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def _columns() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column(
            "kind",
            sa.Text(),
            server_default="unclear",
            nullable=False,
            comment="What they mean: unknown_sku or invalid_value (for good), for_now or unclear (for now)",
        ),
        sa.Column(
            "next_try_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="From when on a delta sends it again though nothing has changed; null: only when that which refused it has gone",
        ),
        sa.Column(
            "released_by",
            sa.Text(),
            nullable=True,
            comment="What let a refusal for good go: export, listing or a person",
        ),
        sa.Column(
            "observation_id",
            sa.BigInteger(),
            nullable=True,
            comment="The newest picture of the platform that was looked at for this SKU, so that none is looked at twice",
        ),
    )


_BEFORE = (
    "SKUs the platform refuses: a delta does not repeat them until the ERP row changes; a full sync tries them once"
)
_SINCE = "SKUs the platform refuses: a delta does not repeat them until they are released; a full sync tries them once"


def upgrade() -> None:
    for column in _columns():
        op.add_column("rejection", column, schema="ledger")
    op.create_check_constraint(
        op.f("ck_rejection_kind"),
        "rejection",
        "kind IN ('unknown_sku', 'invalid_value', 'for_now', 'unclear')",
        schema="ledger",
    )
    op.create_table_comment("rejection", _SINCE, existing_comment=_BEFORE, schema="ledger")
    op.execute(
        "UPDATE ledger.rejection SET next_try_at = now()"
    )  # nobody knows what their words meant: tried once more


def downgrade() -> None:
    op.drop_constraint(op.f("ck_rejection_kind"), "rejection", schema="ledger", type_="check")
    for column in reversed(_columns()):
        op.drop_column("rejection", column.name, schema="ledger")
    op.create_table_comment("rejection", _BEFORE, existing_comment=_SINCE, schema="ledger")
