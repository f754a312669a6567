"""A database whose tables another version made: which older worker may go on with those of a newer one, and which must stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from alembic.script import ScriptDirectory
    from sqlalchemy.engine import Connection

STILL_WORKS = "also: "
"""How the comment of `shelfsync_revision` begins: after it come the older revisions whose code works on these tables."""


def require_known(script: ScriptDirectory, revision: str | None) -> None:
    """Raises a ConfigurationError unless this version knows the revision; None is a database without tables."""
    from alembic.util import CommandError

    if revision is None:
        return
    try:
        script.get_revision(revision)
    except CommandError:
        raise ConfigurationError(
            "SHELFSYNC_DATABASE_URL",
            f"the tables in this database are of revision {revision}, which this version of shelfsync does not know: a newer version"
            " made them, or one from before the first release",
            "Run the version that made them. Or save their state (`shelfsync state save FILE`), and load it into an empty database: docs/how-to/upgrade.md",
        ) from None


def serves(connection: Connection, version: str) -> bool:
    """Whether tables and views are those of this version, or of a newer one whose migrations since then only add (`EXPANDS`)."""
    found = connection.execute(_FOUND).one_or_none()
    if found is None:
        return False
    return version in (found.version_num, *(found.also or "").removeprefix(STILL_WORKS).split())


_FOUND = sa.text(
    "SELECT version_num, obj_description(to_regclass('shelfsync_revision'), 'pg_class') AS also FROM shelfsync_revision"
)


def still_working(script: ScriptDirectory) -> Iterator[str]:
    """The older revisions whose code works on the newest tables: those before a row of migrations with `EXPANDS = True`."""
    revision = script.get_revision("head")
    while (
        revision is not None and getattr(revision.module, "EXPANDS", False) and isinstance(revision.down_revision, str)
    ):
        yield revision.down_revision
        revision = script.get_revision(revision.down_revision)
