"""What follows if the source's columns are not those of the reading before (SHELFSYNC_ERP__CHANGED_COLUMNS)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import source_columns
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from shelfsync.context import Context


def judged(context: Context, columns: source_columns.Columns) -> source_columns.Columns:
    """The columns to be kept. DataError if they differ and the policy is `stop`.

    Also a run of some vendors sees them: a source for all vendors is read from all its files.
    """
    policy = context.settings.erp.changed_columns
    if policy == "ignore":
        return {}
    if policy == "stop":
        with context.engine.connect() as connection:
            changes = source_columns.differences(connection, columns)
        if changes:
            raise DataError(
                f"{source_columns.sentence(changes, 'extract')}. Nothing was sent; if it is meant, run once with"
                " SHELFSYNC_ERP__CHANGED_COLUMNS=report."
            )
    return columns
