"""Rejections: for good or for now, what releases them, and the list of them for people."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


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

_VIEW = """
CREATE VIEW warehouse.rejection AS
SELECT r.vendor, r.sku,
       CASE WHEN r.kind IN ('unknown_sku', 'invalid_value') THEN 'for good' ELSE 'for now' END AS refused,
       r.kind, r.reason, r.price, r.quantity, r.active, r.max_sales_quantity,
       r.first_at AS since, r.last_at, r.times, r.job_id, r.next_try_at, r.released_by,
       CASE
           WHEN r.released_by IS NOT NULL THEN 'Nothing: it was let go, and the next run sends it again.'
           WHEN r.kind = 'unknown_sku' THEN
               'Have the product created on the platform, or take it out of the ERP''s rows for this vendor.'
               ' It is sent again when an export or a listing shows it, when its row changes, or with the next full sync.'
           WHEN r.kind = 'invalid_value' THEN
               'Correct the value in the ERP. It is sent again when the value changes, or with the next full sync.'
           WHEN r.kind = 'for_now' THEN
               'Nothing: it is sent again by itself at next_try_at. If it stays for days, ask the platform''s support.'
           ELSE
               'Read the reason: nobody here knows these words, so it is sent again at next_try_at.'
               ' Once it is clear what they mean, name them in SHELFSYNC_REJECTION__WORDS.'
       END AS what_to_do
FROM ledger.rejection AS r
"""
_SAID = {
    "vendor": "The vendor",
    "sku": "The SKU as it was sent",
    "refused": "for good: it is not repeated until something changes; for now: it is tried again by itself",
    "kind": "unknown_sku, invalid_value, for_now or unclear",
    "reason": "The platform's words",
    "price": "The price wanted when it was refused",
    "quantity": "The quantity wanted when it was refused",
    "active": "The availability wanted when it was refused",
    "max_sales_quantity": "The sales limit wanted when it was refused",
    "since": "When it was first refused",
    "last_at": "When it was last refused",
    "times": "How often it was refused",
    "job_id": "The job that refused it last",
    "next_try_at": "From when on it is sent again though nothing has changed; null: not by itself",
    "released_by": "What let it go: export, listing or a person; null: nothing yet",
    "what_to_do": "What a person should do about it",
}


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
    op.execute(_VIEW)
    op.execute(
        "COMMENT ON VIEW warehouse.rejection IS 'SKUs that the platform refuses now, for the people who must act'"
    )
    for name, said in _SAID.items():
        quoted = said.replace("'", "''")
        op.execute(f"COMMENT ON COLUMN warehouse.rejection.{name} IS '{quoted}'")


def downgrade() -> None:
    op.execute("DROP VIEW warehouse.rejection")
    op.drop_constraint(op.f("ck_rejection_kind"), "rejection", schema="ledger", type_="check")
    for column in reversed(_columns()):
        op.drop_column("rejection", column.name, schema="ledger")
    op.create_table_comment("rejection", _BEFORE, existing_comment=_SINCE, schema="ledger")
