"""What Alembic runs; the connection comes from `shelfsync.migrations.upgrade`."""

from __future__ import annotations

from alembic import context

import shelfsync.budget.tables
import shelfsync.inbox.tables
import shelfsync.ledger.leases
import shelfsync.ledger.observations
import shelfsync.ledger.order_tables
import shelfsync.ledger.promotion_tables
import shelfsync.ledger.rejections
import shelfsync.ledger.restorations
import shelfsync.ledger.switches
import shelfsync.ledger.tables
import shelfsync.migrations.every_table
import shelfsync.warehouse.order_tables
import shelfsync.warehouse.promotion_tables
import shelfsync.warehouse.tables  # noqa: F401  all tables must be known to compare them
from shelfsync.ledger.metadata import SCHEMAS, metadata
from shelfsync.warehouse import views


def _ours(name: str | None, kind: str, _parents: object) -> bool:
    return name in SCHEMAS if kind == "schema" else True


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    include_schemas=True,
    include_name=_ours,
    version_table="shelfsync_revision",
    compare_server_default=False,
)
with context.begin_transaction():
    views.drop(
        context.config.attributes["connection"]
    )  # a migration may change what they read; `upgrade` makes them again
    context.run_migrations()
