"""What is kept, and for how long."""

from __future__ import annotations

from pydantic import Field

from shelfsync.settings.section import Section


class HousekeepingSettings(Section):
    """Retention, in days. What a later step still needs is kept whatever these say."""

    run_days: float = Field(30, gt=0)
    """Runs of the path, with deltas, requests, logs and outcomes."""
    file_days: float = Field(2, gt=0)
    """Raw rows and snapshots of a run: whole assortments, so the bulk of the lake. The newest of each vendor stays."""
    baseline_days: float = Field(2, gt=0)
    """Versions of the acknowledged state as files. What is older is put together again from the warehouse's history when needed."""
    observation_days: float = Field(35, gt=0)
    """Exports and listings; the newest of each vendor stays."""
    event_days: float = Field(30, gt=0)
    """Webhook events as received. Those of orders hold personal data."""
    order_days: float = Field(90, ge=61)
    """What was told of orders, handed over and picked, in the ledger: longer than the platform's history reaches back."""
    quarantine_days: float = Field(14, gt=0)
    """Rows of the ERP that could not be sent, in the warehouse; each run writes its own."""
    repeat_days: float = Field(7, gt=0)
    """Accepted outcomes, in the warehouse, that repeat what held already. Their job keeps the count."""
    history_days: float = Field(400, gt=0)
    """Runs, jobs and orders in the warehouse, use of the request budget, pauses."""
    lake_grace_hours: float = Field(48, ge=1)
    """A file of the lake that nothing points to is removed when it is older than this: one in use is never that old."""
