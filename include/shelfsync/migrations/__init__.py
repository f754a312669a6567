"""The schema's history, run by Alembic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from shelfsync.warehouse import views

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

_LOCK = 7_305_001  # any fixed number: processes that start together migrate one after the other


def upgrade(engine: Engine) -> None:
    """Brings the database to the newest revision; does nothing, cheaply, when it is there already."""
    config = _config()
    head = ScriptDirectory.from_config(config).get_current_head()
    with engine.begin() as connection:
        if _revision(connection) == head and views.current(connection):
            return
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        views.create(connection)


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def _revision(connection: Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table": "shelfsync_revision"})
    return context.get_current_revision()
