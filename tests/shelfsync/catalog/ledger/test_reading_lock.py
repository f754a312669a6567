"""One process at a time reads the ERP; another waits so long at most."""

from __future__ import annotations

import pytest

from shelfsync.catalog.ledger.reading_lock import alone_reading
from shelfsync.errors import TryAgainError


def test_one_process_reads_at_a_time(world):
    context = world.app.context
    with alone_reading(context.engine, context.clock, wait_s=0):
        second = alone_reading(context.engine, context.clock, wait_s=0)
        with pytest.raises(TryAgainError, match="another run is reading the ERP"), second:
            raise AssertionError
    with alone_reading(context.engine, context.clock, wait_s=0):
        pass
