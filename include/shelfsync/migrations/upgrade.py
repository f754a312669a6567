"""The upgrade of the tables to the newest revision, by Alembic, which is loaded only where there is something to upgrade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from shelfsync.migrations.newer_database import require_known
from shelfsync.store.engine import reached
from shelfsync.warehouse import views

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy.engine import Connection, Engine

HEAD = "schema_12da6de8"
"""The newest revision. Every task compares the database with it by one SELECT, without Alembic."""
_LOCK = 7_305_001  # any fixed number: processes that start together migrate one after the other


def upgrade(engine: Engine) -> None:
    """Brings the database to the newest revision. One round trip when it is there already.

    Raises a ConfigurationError where the server cannot be used, or the database is of a revision that this version does not know.
    """
    if _is_current(engine):
        return
    from alembic import command
    from alembic.script import ScriptDirectory

    config = _config()
    script = ScriptDirectory.from_config(config)
    with engine.begin() as connection:
        require_known(script, _revision(connection))
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        views.create(connection)


def _is_current(engine: Engine) -> bool:
    """Whether tables and views are those of this version."""
    found = sa.text(
        "SELECT obj_description(to_regnamespace('warehouse'), 'pg_namespace') FROM shelfsync_revision WHERE version_num = :head"
    )
    with reached(engine) as connection:
        try:
            return connection.execute(found, {"head": HEAD}).scalar_one_or_none() == views.mark()
        except ProgrammingError:  # there are no tables yet
            return False


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def _revision(connection: Connection) -> str | None:
    from alembic.runtime.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"version_table": "shelfsync_revision"})
    return context.get_current_revision()
