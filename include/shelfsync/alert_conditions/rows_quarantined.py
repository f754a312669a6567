"""Alert `rows_quarantined`: from which share of a store's rows on, and below which it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shelfsync.alert_conditions import JUDGED_SKUS
from shelfsync.catalog.steps.store_without_rows import NO_ROWS
from shelfsync.catalog.warehouse import quarantine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy.engine import Connection

STILL_MANY = 0.8
"""Rows in quarantine are over below this part of the share that reports them, so that a row more or less does not open and close the alert."""


def rows_quarantined(connection: Connection, row: Mapping[str, Any], share: float, *, is_open: bool) -> str | None:
    """The sentence about a store's row of the status; None: few of its rows cannot be sent. `is_open`: the alert is open already."""
    vendor = row["vendor"]
    total, quarantined = row["erp_rows"] or 0, row["quarantined"] or 0
    if row["failed_step"] == "normalise" or (row["error"] or "").startswith(NO_ROWS):
        total = 0  # every row is faulty, or none is left: store_failed reports it
    share *= STILL_MANY if is_open else 1
    if total >= JUDGED_SKUS and quarantined > share * total:  # headings and sums of a list for people are no rows
        no_rows = sum(group["rows"] for group in quarantine.groups(connection, vendor=vendor, reason="no_row"))
        total, quarantined = total - no_rows, quarantined - no_rows
    if total < JUDGED_SKUS or quarantined <= share * total:
        return None
    return f"{vendor}: {quarantined:,} of the ERP's {total:,} rows cannot be sent (`shelfsync quarantine --vendor {vendor}`)"
