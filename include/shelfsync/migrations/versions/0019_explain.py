"""warehouse.explain(vendor, sku, until): the life of one SKU, for who asks in SQL."""

from __future__ import annotations

from alembic import op

revision = "0019"
down_revision = "0018"

_FUNCTION = """
CREATE FUNCTION warehouse.explain(vendor text, sku text, until timestamptz DEFAULT now())
RETURNS TABLE (at timestamptz, step text, said text, run_id bigint, job_id bigint,
               price numeric, quantity bigint, active boolean, max_sales_quantity bigint)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT t.at, t.step, t.said, t.run_id, t.job_id, t.price, t.quantity, t.active, t.max_sales_quantity
    FROM warehouse.timeline AS t
    WHERE t.vendor = $1 AND t.sku = $2 AND t.at <= $3
    ORDER BY t.at, t.job_id NULLS FIRST
$$
"""


def upgrade() -> None:
    op.execute("SET LOCAL check_function_bodies = off")  # the view that it reads is made after all migrations
    op.execute(_FUNCTION)
    op.execute(
        "COMMENT ON FUNCTION warehouse.explain(text, text, timestamptz) IS 'Everything that happened to one SKU at one vendor until an instant'"
    )


def downgrade() -> None:
    op.execute("DROP FUNCTION warehouse.explain(text, text, timestamptz)")
