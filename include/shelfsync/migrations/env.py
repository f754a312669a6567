"""What Alembic runs; the connection comes from `shelfsync.migrations.upgrade`."""

from __future__ import annotations

from alembic import context

from shelfsync.warehouse import views
from shelfsync.warehouse.every_table import SCHEMAS, metadata


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
