"""Which of the platform's words report that a job has ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shelfsync.platform.jobs.job import JobKind

ENDED = frozenset({"COMPLETED", "FAILED"})
"""The interface's words for a job that has ended (3.3). A kind of job may have further ones (`JobKind.ended`)."""
AT_WORK = frozenset(
    {
        *("QUEUED", "IN_PROGRESS"),  # the interface's (3.3); the others are usual words for the same
        *(
            "PROCESSING",
            "PENDING",
            "RUNNING",
            "STARTED",
            "WAITING",
            "SUBMITTED",
            "ACCEPTED",
            "CREATED",
            "NEW",
            "SCHEDULED",
        ),
    }
)
"""States of a job that has not ended. With any other word, a link to the result is there because the job has ended."""


def has_ended(kind: JobKind, status: str | None, *, linked: bool) -> bool:
    """True for COMPLETED and FAILED, of a promotion for DUPLICATE too (`kind.ended`); and with a link to a result, unless it is at work."""
    word = re.sub(r"[\s-]+", "_", (status or "").strip().upper())
    return word in kind.ended or (linked and word not in AT_WORK)
