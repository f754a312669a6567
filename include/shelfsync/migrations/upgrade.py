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
    from collections.abc import Iterator

    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from sqlalchemy.engine import Connection, Engine

HEAD = "schema_824f381a"
"""The newest revision. Every task compares the database with it by one SELECT, without Alembic."""
_LOCK = 7_305_001  # any fixed number: processes that start together migrate one after the other
_STILL_WORKS = "also: "
"""How the comment of `shelfsync_revision` begins: after it come the older revisions whose code works on these tables."""


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
        if found is not None and _serves(connection):  # another process, perhaps of a newer version, was first
            return
        require_known(script, found)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        views.create(connection)
        also = " ".join(_still_working(script))
        connection.execute(sa.text(f"COMMENT ON TABLE shelfsync_revision IS '{_STILL_WORKS}{also}'"))


def is_current(engine: Engine) -> bool:
    """Whether this version can work on these tables and views."""
    with reached(engine) as connection:
        try:
            return _serves(connection)
        except ProgrammingError:  # there are no tables yet
            return False


def _serves(connection: Connection) -> bool:
    """Whether they are those of this version, or of a newer one whose migrations since then only add (`EXPANDS`)."""
    found = connection.execute(_FOUND).one_or_none()
    if found is None:
        return False
    return HEAD in (found.version_num, *(found.also or "").removeprefix(_STILL_WORKS).split())


_FOUND = sa.text(
    "SELECT version_num, obj_description(to_regclass('shelfsync_revision'), 'pg_class') AS also FROM shelfsync_revision"
)


def _still_working(script: ScriptDirectory) -> Iterator[str]:
    """The older revisions whose code works on the newest tables: those before a row of migrations with `EXPANDS = True`."""
    revision = script.get_revision("head")
    while (
        revision is not None and getattr(revision.module, "EXPANDS", False) and isinstance(revision.down_revision, str)
    ):
        yield revision.down_revision
        revision = script.get_revision(revision.down_revision)


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config


def _revision(connection: Connection) -> str | None:
    from alembic.runtime.migration import MigrationContext

    context = MigrationContext.configure(connection, opts={"version_table": "shelfsync_revision"})
    return context.get_current_revision()
