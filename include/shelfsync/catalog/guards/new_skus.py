"""Guard `new_skus`: many unknown SKUs at once."""

from __future__ import annotations

import pyarrow.compute as pc

from shelfsync.catalog.guards.case import Case, Finding, Findings, count
from shelfsync.catalog.guards.over_threshold import judged
from shelfsync.rows.alignment import column
from shelfsync.schemas import FIELDS


def new_skus(case: Case) -> Findings:
    """Many unknown SKUs: another store's range, codes that were renumbered.

    Declined new SKUs are held again if their price changes, however few they are.
    """
    if case.baseline.num_rows == 0 or case.history.first:
        return  # the first sync
    again = None if case.unwanted is None else case.undecided(case.unwanted, FIELDS)
    limit = case.limits.limit("new_skus", case.vendor)
    if limit.enabled and again is not None and pc.any(again).as_py():
        message = f"{count(again)} declined new SKUs have another price now; they wait for a person again"
        yield Finding(again, "new_skus", message, limit.model_dump())
    rows = pc.equal(column(case.delta, "change"), "new")
    yield from judged(case, "new_skus", rows, case.all_known, "are new")
