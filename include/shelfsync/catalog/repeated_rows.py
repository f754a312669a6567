"""Repeated rows of a SKU: those that are equal in every value count once; those that differ are all quarantined, as none is known to be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.rows.alignment import ascending
from shelfsync.rows.mask import mask

if TYPE_CHECKING:
    from collections.abc import Callable

    from shelfsync.rows.mask import Mask
    from shelfsync.rows.quarantine_reason import Findings

    Columns = dict[str, pa.Array]


def equal_to_an_earlier(
    came: Columns, several: Mask, read: Callable[[Columns], tuple[Columns, dict[str, Findings], Mask]]
) -> Mask:
    """Rows of `several` that agree with an earlier one of their SKU in every value that is read, and in the text of every faulty one.

    SKUs are compared as they came: two keys that padding makes one are never merged. `read`: the values of such rows, the faults of each
    value, and which quantities lost a fraction.
    """
    where = pa.array(several)
    rows = {name: values.filter(where) for name, values in came.items()}
    values, of_value, floored = read(rows)
    no_text = pa.scalar(None, pa.string())
    faulty = {f"{name}_faulty": pc.if_else(pa.array(one.faulty), rows[name], no_text) for name, one in of_value.items()}
    table = pa.table(
        {"row_number": rows["row_number"], "sku": rows["sku"], "floored": pa.array(floored), **values, **faulty}
    )
    keys = [name for name in table.column_names if name != "row_number"]
    first = table.group_by(keys).aggregate([("row_number", "min")])["row_number_min"]
    return several & ~mask(pc.is_in(came["row_number"], value_set=first.combine_chunks()))


def quarantine_differing(several: Mask, findings: Findings) -> None:
    """Notes all rows of each SKU that still has more than one. `several`: as `equal_to_an_earlier` leaves it."""
    findings.note("sku_duplicate", several)


def shared(texts: pa.Array, among: Mask) -> Mask:
    """Rows of `among` whose text another row of `among` has too."""
    if ascending(texts):  # then no text repeats
        return np.zeros_like(among)
    codes = texts.dictionary_encode().indices
    known = mask(codes.is_valid()) & among
    numbers = codes.fill_null(0).to_numpy(zero_copy_only=False)
    counts = np.bincount(numbers[known], minlength=int(numbers.max(initial=0)) + 1)
    repeated: Mask = (counts[numbers] > 1) & known
    return repeated
