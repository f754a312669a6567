"""Guards over an extract as a whole."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog.alignment import aligned, column
from shelfsync.catalog.buffer import sold_out
from shelfsync.catalog.guards.case import STOCK_FIELDS, Finding, count, judged, over
from shelfsync.columns import DELTA, FIELDS, completed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shelfsync.catalog.guards.case import Case

_FEEDS_MIN = 3
"""With fewer extracts before it, nobody knows how many rows are usual."""


def duplicate_feed(case: Case) -> Iterator[Finding]:
    """Yesterday's file again: to the last value an extract from before the last one. Nothing in it is news.

    But for the end of what a person approved in the last one: a store that was closed opens again with the stock it had.
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
    """An extract that leaves nothing on sale at all."""
    active = column(case.snapshot, "active").fill_null(True)
    if pc.any(pc.and_(active, pc.invert(_sold_out(case)))).as_py():
        return
    rows = pc.or_(case.going_off, case.selling_out)
    what = "go off sale, and the extract leaves nothing on sale"
    yield from judged(case, "empty_feed", rows, case.on_sale, what, STOCK_FIELDS)


def _sold_out(case: Case) -> pa.Array:
    """Rows of the snapshot of which there is too little to be sold: by the buffer that a quantity of the delta meets, or met when it was told."""
    skus = column(case.snapshot, "sku")
    told = aligned(case.reference, skus, ["sales_buffer"])["sales_buffer"]
    delta = completed(case.delta, DELTA)
    said = aligned(delta, skus, ["quantity", "sales_buffer"])
    buffer = pc.if_else(said["quantity"].is_valid(), said["sales_buffer"], told)
    return sold_out(column(case.snapshot, "quantity"), buffer, case.at_buffer)


def shrunken_extract(case: Case) -> Iterator[Finding]:
    """Far fewer rows than the last extracts had: what is missing is not believed to be gone."""
    if len(case.history.rows) < _FEEDS_MIN or not pc.any(case.removed).as_py():
        return
    usual = min(
        int(median(case.history.rows)), case.history.rows[0]
    )  # one that was approved is what is usual from then on
    limit = case.limits.limit("shrunken_extract", case.vendor)
    if over("shrunken_extract", limit, usual - case.extract_rows, usual):
        message = (
            f"the extract has {case.extract_rows} rows, {usual} were usual; {count(case.removed)} SKUs that are missing"
            " wait for a person (SHELFSYNC_GUARDS__SHRUNKEN_EXTRACT__ROWS and __SHARE)"
        )
        yield Finding(case.removed, "shrunken_extract", message, limit.model_dump())


def new_skus(case: Case) -> Iterator[Finding]:
    """Many SKUs that nobody has heard of: another store's range, codes that were renumbered.

    Those that a person did not let in are asked about again when the ERP says something else of them, however few they are then.
    """
    if case.baseline.num_rows == 0 or case.history.first:
        return  # the first sync
    again = None if case.unwanted is None else case.undecided(case.unwanted, FIELDS)
    limit = case.limits.limit("new_skus", case.vendor)
    if limit.on and again is not None and pc.any(again).as_py():
        message = f"{count(again)} new SKUs that nobody let in have another price now; they wait for a person again"
        yield Finding(again, "new_skus", message, limit.model_dump())
    rows = pc.equal(column(case.delta, "change"), "new")
    everything = pa.repeat(pa.scalar(True), case.baseline.num_rows)
    yield from judged(case, "new_skus", rows, everything, "are new")
