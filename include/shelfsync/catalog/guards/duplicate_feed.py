"""Guard `duplicate_feed`: the ERP gave an old extract again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.guards.over_threshold import judged
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    from shelfsync.catalog.guards.case import Case, Findings


def duplicate_feed(case: Case) -> Findings:
    """Yesterday's file again: an extract that equals one from before the last one in every value.

    A revert of a change that a person approved since then passes: a store that was closed opens again with the stock it had.
    """
    if case.history.repeats is None:
        return
    rows = pc.and_(pc.not_equal(column(case.delta, "change"), "same"), case.moving)
    undone = pc.is_in(case.skus, value_set=pa.array(sorted(case.history.undone), pa.string()))
    rows = pc.and_(rows, pc.invert(undone))
    what = f"differ and the extract is to the last value the one of {case.history.repeats}, from before the last one"
    yield from judged(case, "duplicate_feed", rows, case.all_known, what)
