"""The refusal of a database whose tables another version made: a newer one, or one from before the first release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.errors import ConfigurationError

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory


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
