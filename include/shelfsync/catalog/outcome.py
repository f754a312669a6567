"""The outcome of each SKU that was sent, read from what the platform reports and never concluded from a missing report.

Always sent = accepted + rejected + unaccounted: there is exactly one outcome for every SKU of the items (I1). The lines come from the job's log
(`log_reader`), from its status (`job_feedback`) or from the platform's listing (`confirmed_by_listing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import column, padded, require_order
from shelfsync.schemas import OUTCOME

if TYPE_CHECKING:
    import numpy.typing as npt

    from shelfsync.rows.mask import Mask


Key = Literal["sku", "barcode"]

NO_LINE = "the log has no line about this SKU"
_AMBIGUOUS = "a line of the log may be about either of two SKUs"
_NO_ITEM = -1


def match(items: pa.Table, log: pa.Table, key: Key = "sku") -> pa.Table:
    """One outcome (OUTCOME schema, sorted by sku) for every item sent (DELTA schema), by the lines of its job's log (LOG schema).

    Only `key`, by which the items were sent, identifies an item. Of several lines about one SKU the worst counts: rejected, then
    unaccounted, then accepted. A SKU without a line, or with a line that may be about another SKU too, is unaccounted. Raises ValueError if
    the items are not sorted and unique by sku.
    """
    skus = column(items, "sku")
    require_order(skus, "the table of items sent")
    places, ambiguous = _places(items, log, key)
    lines = _worst(places, column(log, "state"), len(skus))
    lines[ambiguous] = _NO_ITEM
    taken = pa.array(lines, mask=lines == _NO_ITEM)
    states, reasons = column(log, "state").take(taken), column(log, "reason").take(taken)
    why = pc.if_else(pa.array(ambiguous, pa.bool_()), _AMBIGUOUS, NO_LINE)
    columns = {
        "sku": skus,
        "state": states.fill_null("unaccounted"),
        "reason": pc.if_else(states.is_null(), why, reasons),
        "raw": column(log, "raw").take(taken),
    }
    return pa.Table.from_arrays([columns[name] for name in OUTCOME.names], schema=OUTCOME)


def unmatched(items: pa.Table, log: pa.Table, key: Key = "sku") -> pa.Table:
    """The lines (LOG schema) about no SKU that was sent: those of other jobs, and those that cannot be read. They move nothing."""
    places, _ = _places(items, log, key)
    return log.filter(pa.array(places == _NO_ITEM, pa.bool_()))


def _places(items: pa.Table, log: pa.Table, key: Key) -> tuple[npt.NDArray[np.int64], Mask]:
    """For each line the row of its item, or -1; and a mask of the items whose lines are ambiguous."""
    ambiguous = np.zeros(items.num_rows, dtype=np.bool_)
    if key == "sku":
        return _found(column(log, "sku"), column(items, "sku")), ambiguous
    called = padded(column(items, "barcode"))
    by_barcode = _found(padded(column(log, "barcode")), called)
    by_sku = _found(padded(column(log, "sku")), called)  # a log may have the item's key in `sku`, whichever key that is
    torn = (by_barcode != _NO_ITEM) & (by_sku != _NO_ITEM) & (by_barcode != by_sku)
    ambiguous[by_barcode[torn]] = True
    ambiguous[by_sku[torn]] = True
    shared = called.dictionary_encode().indices.fill_null(_NO_ITEM).to_numpy(zero_copy_only=False)
    counts = np.bincount(shared[shared != _NO_ITEM], minlength=1)
    ambiguous |= (shared != _NO_ITEM) & (counts[shared] > 1)
    return np.where(by_barcode == _NO_ITEM, by_sku, by_barcode), ambiguous


def _found(names: pa.Array, among: pa.Array) -> npt.NDArray[np.int64]:
    places = pc.index_in(names, value_set=among, skip_nulls=True).fill_null(_NO_ITEM)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def _worst(places: npt.NDArray[np.int64], states: pa.Array, items: int) -> npt.NDArray[np.int64]:
    """For each item the number of the line that decides, or -1: the worst state, and of equals the first line."""
    badness = pc.index_in(states, value_set=pa.array(["accepted", "unaccounted", "rejected"])).to_numpy(
        zero_copy_only=False
    )
    lines = np.arange(len(places))
    decisive = np.full(items, _NO_ITEM, dtype=np.int64)
    matched = places != _NO_ITEM
    if not matched.any() or np.bincount(places[matched]).max() == 1:  # no item has two lines, as it should be
        decisive[places[matched]] = lines[matched]
        return decisive
    order = np.lexsort((lines, -badness.astype(np.int64), places))
    order = order[places[order] != _NO_ITEM]
    found, first = np.unique(places[order], return_index=True)
    decisive[found] = order[first]
    return decisive
