"""Tables by SKU, sorted and unique: which row of one belongs to which row of the other; and when two barcodes are the same."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Iterable


def column(table: pa.Table, name: str) -> pa.Array:
    """One column as one contiguous array; no copy if it is contiguous already."""
    values = table[name]
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)


def with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """The table with other values in this column."""
    return table.set_column(table.column_names.index(name), table.schema.field(name), values)


def ascending(skus: pa.Array) -> bool:
    """Whether the SKUs ascend strictly in byte order, so that each is there once."""
    return not skus.null_count and bool(pc.all(pc.greater(skus[1:], skus[:-1]), min_count=0).as_py())


def require_order(skus: pa.Array, what: str) -> None:
    """Raises ValueError if the SKUs do not ascend strictly in byte order, which all later steps rely on."""
    if not ascending(skus):
        raise ValueError(
            f"{what} is not sorted by sku, each once and none null; it was not written by normalise, diff or acknowledge"
        )


def positions(skus: pa.Array, among: pa.Array) -> pa.Array:
    """For each SKU its row in `among`, null if it has none. Two tables with the same SKUs need only one comparison."""
    if skus.equals(among):
        return pa.array(np.arange(len(skus), dtype=np.int32))
    return pc.index_in(skus, value_set=among)


def unmentioned(places: pa.Array, rows: int) -> pa.Array:
    """A mask over `rows` rows: those that no place refers to. It is cheaper than `positions` in the other direction."""
    mask = np.ones(rows + 1, dtype=np.bool_)
    mask[places.fill_null(rows).to_numpy()] = False  # the one past the last is for those without a place
    return pa.array(mask[:rows])


def placed(table: pa.Table, places: pa.Array, names: Iterable[str]) -> dict[str, pa.Array]:
    """Columns of `table` at these rows, null where there is no row."""
    if len(places) == table.num_rows and not places.null_count and _in_order(places):
        return {name: column(table, name) for name in names}
    return {name: column(table, name).take(places) for name in names}


def aligned(table: pa.Table, skus: pa.Array, names: Iterable[str]) -> dict[str, pa.Array]:
    """Columns of `table` for these SKUs; null where it does not know the SKU."""
    return placed(table, positions(skus, column(table, "sku")), names)


def equal(one: pa.Array, other: pa.Array) -> pa.Array:
    """Rows in which both have a value, and it is the same."""
    return pc.equal(one, other).fill_null(False)


def same(one: pa.Array, other: pa.Array) -> pa.Array:
    """Rows in which both have the same value, or both none."""
    return pc.or_(equal(one, other), pc.and_(one.is_null(), other.is_null()))


def differs(wanted: pa.Array, other: pa.Array) -> pa.Array:
    """Rows with a wanted value, where the other has another value or none."""
    return pc.and_(wanted.is_valid(), pc.invert(equal(wanted, other)))


def any_of(masks: Iterable[pa.Array]) -> pa.Array:
    """Rows of which any mask is true; at least one mask."""
    return reduce(pc.or_, masks)


def _in_order(places: pa.Array) -> bool:
    """Whether the places, as many as there are rows, are all rows in their order."""
    return bool((places.to_numpy() == np.arange(len(places))).all())


BARCODE_DIGITS_MAX = 14
"""One longer barcode fails a whole request, and so does one with a non-digit (field notes, catalog update)."""


def alike(one: str, other: str) -> bool:
    """Whether two texts are the same barcode, however the platform pads it."""
    return one.isdigit() and other.isdigit() and one.zfill(BARCODE_DIGITS_MAX) == other.zfill(BARCODE_DIGITS_MAX)


def padded(barcodes: pa.Array) -> pa.Array:
    """Barcodes as the platform returns them: padded on the left with zeros to 14 digits. A text with a non-digit becomes null."""
    text = pc.ascii_lpad(barcodes, width=BARCODE_DIGITS_MAX, padding="0")
    return pc.if_else(
        pc.match_substring_regex(text, rf"^\d{{{BARCODE_DIGITS_MAX}}}$"), text, pa.scalar(None, pa.string())
    )
