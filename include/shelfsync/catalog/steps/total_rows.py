"""A total of the ERP's list that stands where a store does: `Summe;12;;126;`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from shelfsync.errors import some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    import pyarrow as pa

    from shelfsync.context import Context

log = logging.getLogger(__name__)

_ROWS_OF_TOTALS_MAX = 20


def of_no_store(
    context: Context, files: Mapping[str, tuple[str, int]], stores: Callable[[], Container[str]]
) -> tuple[list[str], pa.Table]:
    """The vendors of `files` (path, rows) all of whose rows are totals; and these rows, as a reader marks them (RAW).

    A vendor of `stores`, which are known, is none; they are asked for only if a name is a word for a total. In a long list none is looked for.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.rows import total_row
    from shelfsync.rows.quarantine_reason import NO_ROW
    from shelfsync.schemas import RAW

    small = sorted(name for name, (_, rows) in files.items() if rows <= _ROWS_OF_TOTALS_MAX)
    words = [name for name, may in zip(small, total_row.may_be(pa.array(small, pa.string())), strict=True) if may]
    if words:
        known = stores()
        words = [name for name in words if name not in known]
    every = sum(rows for _, rows in files.values())
    if not words or every > total_row.ROWS_MAX:
        return [], RAW.empty_table()
    rows = pa.concat_tables(context.lake.read_table(path) for path, _ in files.values()).sort_by("row_number")
    candidates = pc.is_in(rows["vendor"], value_set=pa.array(words)).to_numpy()
    found = pa.array(total_row.totals(rows, "vendor", candidates))
    spared = pc.unique(rows["vendor"].filter(pc.invert(found)))
    names = [name for name in words if not pc.is_in(pa.scalar(name), value_set=spared).as_py()]
    theirs = rows.filter(pc.is_in(rows["vendor"], value_set=pa.array(names, pa.string())))
    marked = pa.array([NO_ROW + text for text in total_row.shown(theirs)], pa.string())
    nothing = pa.nulls(theirs.num_rows, pa.string())
    for name, values in (("sku", marked), ("vendor", nothing)):
        theirs = theirs.set_column(theirs.column_names.index(name), RAW.field(name), values)
    if names:
        log.warning(
            "extract: %s: no store, but totals of the list; `shelfsync quarantine` shows the rows", some_of(names)
        )
    return names, theirs
