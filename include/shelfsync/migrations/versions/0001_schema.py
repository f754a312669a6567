"""The whole database, as the code declares it. The first release freezes it as text, and history begins.

Until then a change of a table changes the name of this revision, `HEAD` (a test names the new one), so that a database made before the change
is rejected and not taken for one of this state.
"""

from __future__ import annotations

from alembic import op

from shelfsync.migrations.upgrade import HEAD
from shelfsync.store.monthly_partitions import SCHEMA as PARTITIONS
from shelfsync.warehouse.every_table import SCHEMAS, metadata

revision = HEAD
down_revision = None

FUNCTIONS = (
    """
CREATE FUNCTION ledger.instant() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('shelfsync.instant', true), '')::timestamptz, clock_timestamp())
$$
""",
    """
CREATE FUNCTION warehouse.explain(vendor text, sku text, until timestamptz DEFAULT now())
RETURNS TABLE (at timestamptz, step text, message text, run_id bigint, job_id bigint,
               price numeric, quantity bigint, active boolean, max_sales_quantity bigint)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT t.at, t.step, t.message, t.run_id, t.job_id, t.price, t.quantity, t.active, t.max_sales_quantity
    FROM warehouse.timeline AS t
    WHERE t.vendor = $1 AND t.sku = $2 AND t.at <= $3
    ORDER BY t.at, t.job_id NULLS FIRST
$$
""",
    "COMMENT ON FUNCTION warehouse.explain(text, text, timestamptz) IS 'Everything that happened to one SKU at one vendor until an instant'",
)


def upgrade() -> None:
    for name in (*SCHEMAS, PARTITIONS):
        op.execute(f"CREATE SCHEMA {name}")
    op.execute("SET LOCAL check_function_bodies = off")  # one of them reads a view, which is made after the tables
    for text in FUNCTIONS:
        op.execute(text)
    metadata.create_all(op.get_bind())


def downgrade() -> None:
    for name in (*SCHEMAS, PARTITIONS):
        op.execute(f"DROP SCHEMA {name} CASCADE")
