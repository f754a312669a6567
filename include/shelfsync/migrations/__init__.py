"""The tables, made and upgraded by Alembic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from shelfsync.errors import ConfigurationError
from shelfsync.warehouse import views

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

_LOCK = 7_305_001  # any fixed number: processes that start together migrate one after the other


def upgrade(engine: Engine) -> None:
    """Brings the database to the newest revision; does nothing, cheaply, when it is there already.

    Raises a ConfigurationError where the database is of a revision that this version does not know.
    """
    config = _config()
    script = ScriptDirectory.from_config(config)
    with engine.begin() as connection:
        revision = _revision(connection)
        if revision == script.get_current_head() and views.current(connection):
            return
        _require_known(script, revision)
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        views.create(connection)


def _require_known(script: ScriptDirectory, revision: str | None) -> None:
    if revision is None:
        return
    try:
        script.get_revision(revision)
    except CommandError:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            f"the tables in this database are of revision {revision}, which this version of shelfsync does not know: a newer version"
            " made them, or one from before the first release",
            "Run the version that made them, or give shelfsync an empty database, which the next full sync fills",
        ) from None


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def _revision(connection: Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table": "shelfsync_revision"})
    return context.get_current_revision()
