"""The upgrade of the tables to the newest revision, by Alembic, which is loaded only where there is something to upgrade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.exc import ProgrammingError

from shelfsync.migrations.another_version import STILL_WORKS, require_known, serves, still_working
from shelfsync.store.engine import reached
from shelfsync.warehouse import views

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy.engine import Connection, Engine

HEAD = "schema_a72e96d6"
"""The newest revision. Every task compares the database with it by one SELECT, without Alembic."""
_LOCK = 7_305_001  # any fixed number: processes that start together migrate one after the other


def upgrade(engine: Engine) -> None:
    """Brings the database to the newest revision. One round trip when it is there already.

    Raises a ConfigurationError where the server cannot be used, or the database is of a revision that this version does not know.
    """
    if is_current(engine):
        return
    from alembic import command
    from alembic.script import ScriptDirectory

    config = _config()
    script = ScriptDirectory.from_config(config)
    with engine.begin() as connection:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        found = _revision(connection)
        if found is not None and serves(connection, HEAD):  # another process, perhaps of a newer version, was first
            return
        require_known(script, found)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        views.create(connection)
        also = " ".join(still_working(script))
        connection.execute(sa.text(f"COMMENT ON TABLE shelfsync_revision IS '{STILL_WORKS}{also}'"))


def is_current(engine: Engine) -> bool:
    """Whether this version can work on these tables and views."""
    with reached(engine) as connection:
        try:
            return serves(connection, HEAD)
        except ProgrammingError:  # there are no tables yet
            return False


def has_revision(engine: Engine) -> bool:
    """Whether some version of shelfsync made tables in this database."""
    with reached(engine) as connection:
        return _revision(connection) is not None


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def _revision(connection: Connection) -> str | None:
    from alembic.runtime.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"version_table": "shelfsync_revision"})
    return context.get_current_revision()
