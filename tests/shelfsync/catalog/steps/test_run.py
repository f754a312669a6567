"""What a run reports of a store's rows."""

from __future__ import annotations

import pytest

from shelfsync.catalog.steps.run import _faulty


@pytest.mark.parametrize(("failed_step", "sent"), [(None, True), ("normalise", False)])
def test_only_a_store_that_goes_on_sends_the_rest_of_a_faulty_row(failed_step, sent):
    row = {"vendor": "v", "rows_quarantined": 0, "values_left_out": 1, "rows_repeated": 0, "failed_step": failed_step}
    (line,) = _faulty(row)
    assert ("the rest of their rows is sent" in line) is sent
