"""Guards over an extract as a whole."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.buffer import sold_out
from shelfsync.catalog.guards.case import STOCK_FIELDS, Finding, count, judged, over
from shelfsync.schemas import DELTA, FIELDS, completed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.catalog.guards.case import Case

_FEEDS_MIN = 3
"""With fewer earlier extracts the usual number of rows is unknown."""


def duplicate_feed(case: Case) -> Iterator[Finding]:
    """Yesterday's file again: an extract that equals one from before the last one in every value.

    A revert of a change that a person approved since then passes: a store that was closed opens again with the stock it had.
    """
    if case.history.repeats is None:
        return
    rows = pc.and_(pc.not_equal(column(case.delta, "change"), "same"), case.moving)
    undone = pc.is_in(case.skus, value_set=pa.array(sorted(case.history.undone), pa.string()))
    rows = pc.and_(rows, pc.invert(undone))
    everything = pa.repeat(pa.scalar(True), case.baseline.num_rows)
    what = f"differ and the extract is to the last value the one of {case.history.repeats}, from before the last one"
    yield from judged(case, "duplicate_feed", rows, everything, what)


def empty_feed(case: Case) -> Iterator[Finding]:
    """An extract that leaves nothing on sale."""
    active = column(case.snapshot, "active").fill_null(True)
    if pc.any(pc.and_(active, pc.invert(_sold_out(case)))).as_py():
        return
    rows = pc.or_(case.going_off, case.selling_out)
    what = "go off sale, and the extract leaves nothing on sale"
    yield from judged(case, "empty_feed", rows, case.on_sale, what, STOCK_FIELDS)


def _sold_out(case: Case) -> pa.Array:
    """Rows of the snapshot with too little stock to be sold, by the delta's buffer or, without a quantity in the delta, the last known one."""
    skus = column(case.snapshot, "sku")
    last_buffer = aligned(case.reference, skus, ["sales_buffer"])["sales_buffer"]
    delta = completed(case.delta, DELTA)
    sent = aligned(delta, skus, ["quantity", "sales_buffer"])
    buffer = pc.if_else(sent["quantity"].is_valid(), sent["sales_buffer"], last_buffer)
    return sold_out(column(case.snapshot, "quantity"), buffer, case.at_buffer)


def shrunken_extract(case: Case) -> Iterator[Finding]:
    """Far fewer rows than the last extracts: the missing SKUs may still be in the ERP."""
    if len(case.history.rows) < _FEEDS_MIN or not pc.any(case.removed).as_py():
        return
    usual = min(
        int(median(case.history.rows)), case.history.rows[0]
    )  # after an approval the smaller number is the usual one
    limit = case.limits.limit("shrunken_extract", case.vendor)
    if over("shrunken_extract", limit, usual - case.extract_rows, usual):
        message = (
            f"the extract has {case.extract_rows} rows, {usual} were usual; {count(case.removed)} SKUs that are missing"
            " wait for a person (SHELFSYNC_GUARDS__SHRUNKEN_EXTRACT__MAX_ROWS and __MAX_SHARE)"
        )
        yield Finding(case.removed, "shrunken_extract", message, limit.model_dump())


def new_skus(case: Case) -> Iterator[Finding]:
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
    everything = pa.repeat(pa.scalar(True), case.baseline.num_rows)
    yield from judged(case, "new_skus", rows, everything, "are new")
