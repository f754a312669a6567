"""Alert `columns_changed`: the ERP has other columns than before, for a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.alert_conditions import Growing
from shelfsync.catalog.ledger import source_columns

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def columns_changed(_: Context, connection: Connection) -> Found:
    """Sources that had other columns than before, for a day; each further change is reported."""
    lines = source_columns.lines(connection)
    return {("columns_changed", ""): Growing(" ".join(lines), source_columns.newest(connection))} if lines else {}
