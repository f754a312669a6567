"""The states of a run, of a vendor in it, and of a batch; and the priorities of a batch."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    """A run of the path from extract to acknowledge."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    PARTLY = "partly"
    """A vendor was passed over."""
    PARTLY_FAILED = "partly_failed"
    FAILED = "failed"


class VendorState(StrEnum):
    """A vendor in a run."""

    OPEN = "open"
    UNCHANGED = "unchanged"
    PLANNED = "planned"
    """The end of a dry run."""
    ACKNOWLEDGED = "acknowledged"
    BUSY = "busy"
    """Passed over: a job of it is open, or it waits after failures."""
    SUPERSEDED = "superseded"
    FAILED = "failed"


class BatchState(StrEnum):
    """A batch: the items of one request."""

    PLANNED = "planned"
    SENT = "sent"
    DONE = "done"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"


PRIORITIES = ("stop_sell", "price", "catalog")
"""Of a batch and its job, most urgent first."""
