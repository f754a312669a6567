"""Alerts `rows_of_no_store`, `changes_missed` and `job_events`: what the last readings and events could not use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shelfsync.catalog.ledger import change_files
from shelfsync.catalog.warehouse import missed_changes, quarantine
from shelfsync.inbox import events

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

    from shelfsync.alert_conditions import Found
    from shelfsync.context import Context


def rows_of_no_store(context: Context, connection: Connection) -> Found:
    """What the last readings could not use, and what the changes missed. Of an ERP without changes in the settings these are no condition."""
    erp, missed = context.settings.erp, list[str]()
    if erp.changes_sql or erp.changes_sql_file or erp.changes_files:
        missed += missed_changes.of_last_full(connection)
    if erp.changes_files:
        missed += change_files.lines(connection)
    lines = {
        "rows_of_no_store": quarantine.unusable_lines(quarantine.unusable_of_last(connection)),
        "changes_missed": missed,
        "job_events": events.quarantined_jobs(connection),
    }
    return {(kind, ""): ". ".join(_bare(line) for line in found) for kind, found in lines.items() if found}


def _bare(line: str) -> str:
    """The line of an alarm without its runbook, which the kind has."""
    return line.partition(". Runbook: ")[0]
