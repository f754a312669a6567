"""A picking result is read strictly."""

from __future__ import annotations

import pytest

from shelfsync.orders.picking_result import UnreadableResultError, read

ORDER = "00000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize("time", ["noon", "2026-07-01T19:30"])
def test_a_time_that_is_none_or_has_no_zone_is_refused(time):
    with pytest.raises(UnreadableResultError, match=r"accepted_for .*2026-03-01T11:42\+01:00"):
        read(ORDER, {"action": "accept", "accepted_for": time})
