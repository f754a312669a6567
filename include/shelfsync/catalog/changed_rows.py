"""Changed rows of one vendor laid over its last reading, row by row of the ERP, before anything is judged.

A row replaces all rows of its SKU. A SKU without a changed row keeps its rows: absence means nothing. So laying the changes over a
reading gives what reading the whole would have given, and laying them over twice gives the same.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import column
from shelfsync.schemas import CHANGED, RAW

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Overlaid:
    """The vendor's rows in RAW schema, and when the ERP changed the first of those that differ; None: the ERP does not
    report it, or not the zone.
    """

    rows: pa.Table
    changed_at: dt.datetime | None


def lay_over(base: pa.Table, reported: pa.Table, reported_before: pa.Table | None = None) -> Overlaid | None:
    """The vendor's rows (RAW) with the changed ones (CHANGED) in place of theirs; None if they are the same rows already.

    `reported_before`: the changed rows of the reading before. A SKU of which every row was reported then is left out: a row counts once, so that
    a feed that has stopped cannot bring back what a reading of the whole has corrected. The other rows keep their numbers, and the changed
    ones are counted on from the highest.
    """
    if reported_before is not None:
        new = pc.invert(
            pc.is_in(_content(reported, CHANGED.names[1:]), value_set=_content(reported_before, CHANGED.names[1:]))
        )
        reported = reported.filter(pc.is_in(_keys(reported), value_set=_keys(reported.filter(new))))
    changed = reported.select(RAW.names)
    mine, theirs = _keys(base), _keys(changed)
    replaced = pc.is_in(mine, value_set=theirs)
    before = _content(base.filter(replaced))
    now = _content(changed)
    if len(before) == len(now) and before.sort().equals(now.sort()):
        return None
    kept = base.filter(pc.invert(replaced))
    first = (pc.max(base["row_number"]).as_py() or 0) + 1
    numbers = pa.array(range(first, first + changed.num_rows), pa.int64())
    rows = pa.concat_tables([kept, changed.set_column(0, RAW.field("row_number"), numbers)]).cast(RAW)
    valued = [name for name in RAW.names[1:] if name != "name"]  # a product that was renamed is no change to be sent
    new = pc.invert(pc.is_in(_content(changed, valued), value_set=_content(base.filter(replaced), valued)))
    return Overlaid(rows, _earliest(column(reported, "changed_at").filter(new)))


def of_last_file(reported: pa.Table) -> pa.Table:
    """The changed rows (CHANGED), of each SKU those of the last file that has it: all rows of a file have its name in `stamp`.

    The files are in the order in which they were read.
    """
    keys = _keys(reported)
    stamps = pa.table({"key": keys, "stamp": reported["stamp"]})
    last = stamps.group_by("key", use_threads=False).aggregate([("stamp", "last")])  # by threads there is no last one
    theirs = column(last, "stamp_last").take(pc.index_in(keys, value_set=column(last, "key")))
    return reported.filter(pc.equal(column(reported, "stamp"), theirs))


def _keys(rows: pa.Table) -> pa.Array:
    """The SKU as normalise reads it; the rows without one are one key."""
    return pc.utf8_trim(pc.fill_null(column(rows, "sku"), ""), characters=" ")


def _content(rows: pa.Table, names: Sequence[str] = RAW.names[1:]) -> pa.Array:
    """Each row without its number as one text, by which two rows are compared."""
    texts = [
        pc.if_else(column(rows, name).is_null(), "", pc.binary_join_element_wise("=", column(rows, name), ""))
        for name in names
    ]
    return pc.binary_join_element_wise(*texts, "\x1f")


def _earliest(texts: pa.Array) -> dt.datetime | None:
    """The first of these times; None if one of them has no zone, is none at all, or there is none."""
    try:
        moments = [dt.datetime.fromisoformat(text) for text in pc.unique(texts.drop_null()).to_pylist()]
    except ValueError:
        return None
    return None if not moments or any(moment.tzinfo is None for moment in moments) else min(moments)
