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

    A vendor of `stores`, which are known, is none; they are asked for only if a name is a word for a total. Of the other files the columns are read
    that can still prove something, one file after another.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from shelfsync.rows import total_row
    from shelfsync.rows.quarantine_reason import NO_ROW
    from shelfsync.schemas import RAW

    small = sorted(name for name, (_, rows) in files.items() if rows <= _ROWS_OF_TOTALS_MAX)
    words = total_row.words(small)
    if words:
        known = stores()
        words = [name for name in words if name not in known]
    if not words:
        return [], RAW.empty_table()
    rows = pa.concat_tables(context.lake.read_table(files[name][0]) for name in words).sort_by("row_number")
    above = total_row.Above(rows["row_number"].to_numpy())
    for name in sorted(files.keys() - set(words)):
        if not (needed := total_row.needed(rows, above)):
            break
        others = context.lake.read_table(files[name][0], needed)
        above.add(others, others["row_number"].to_numpy())
    if not above.rows:
        return [], RAW.empty_table()
    spared = pc.unique(rows["vendor"].filter(pa.array(~total_row.proved(rows, "vendor", above))))
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
