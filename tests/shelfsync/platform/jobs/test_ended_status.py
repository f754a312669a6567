"""Which of the platform's words report that a job has ended."""

from __future__ import annotations

import pytest

from shelfsync.platform.jobs.ended_status import has_ended
from shelfsync.platform.jobs.table import Kind


@pytest.mark.parametrize(
    ("word", "ended"),
    [
        *((word, False) for word in ("QUEUED", "in progress", "In-Progress", "PROCESSING", "running", "PENDING ")),
        *((word, True) for word in ("COMPLETED", "failed", "PARTIALLY_DONE", "unknown", "", None)),
    ],
)
def test_a_link_beside_a_word_of_work_is_no_end(world, word, ended):
    assert has_ended(world.app.context.kinds[Kind.CATALOG], word, linked=True) is ended
