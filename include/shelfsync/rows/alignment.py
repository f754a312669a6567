"""Tables by SKU, sorted and unique: which row of one belongs to which row of the other; and when two barcodes are the same."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt


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
    """For each SKU its row in `among`, null if it has none; `among` has each SKU once."""
    if skus.equals(among):
        return pa.array(np.arange(len(skus), dtype=np.int32))
    if skus.type == among.type and ascending(skus) and ascending(among):
        return ordered_positions(skus, among)
    return pc.index_in(skus, value_set=among)


def ordered_positions(skus: pa.Array, among: pa.Array) -> pa.Array:
    """The same of SKUs that ascend on both sides: rows that lie side by side are compared, and only the others are looked up."""
    if skus.equals(among):
        return pa.array(np.arange(len(skus), dtype=np.int32))
    if not len(skus) or not len(among):
        return pa.nulls(len(skus), pa.int32())
    if len(skus) * _FEWER < len(among):
        return _where_equal(skus, among, pc.search_sorted(among, skus).to_numpy())
    guess = _side_by_side(skus, among)
    if guess is None:
        return pc.index_in(skus, value_set=among)
    places = _where_equal(skus, among, guess)
    left = pc.indices_nonzero(places.is_null())
    if not len(left):
        return places
    others = pc.indices_nonzero(unmentioned(places, len(among)))
    looked_up = others.take(pc.index_in(skus.take(left), value_set=among.take(others)))
    return pc.replace_with_mask(places, places.is_null(), looked_up.cast(pa.int32()))


_FEWER = 4
"""If there are so many times fewer SKUs, a search for each costs less than a table of the others."""
_BLOCK = 64


def _side_by_side(skus: pa.Array, among: pa.Array) -> npt.NDArray[np.int64] | None:
    """Where each SKU is if its block of rows lies in `among` as a whole; None if few blocks do."""
    first = skus.take(pa.array(np.arange(0, len(skus), _BLOCK)))
    at = pc.search_sorted(among, first).to_numpy().astype(np.int64)
    if np.count_nonzero(np.diff(at) == _BLOCK) * 2 < len(at) - 1:
        return None
    guess: npt.NDArray[np.int64] = (at[:, np.newaxis] + np.arange(_BLOCK)).ravel()[: len(skus)]
    return guess


def _where_equal(skus: pa.Array, among: pa.Array, guess: npt.NDArray[np.integer]) -> pa.Array:
    """The guessed rows of `among`, null where another SKU stands there."""
    places = pa.array(np.minimum(guess, len(among) - 1), pa.int32())
    return pc.if_else(pc.equal(skus, among.take(places)), places, pa.scalar(None, pa.int32()))


def unmentioned(places: pa.Array, rows: int) -> pa.Array:
    """A mask over `rows` rows: those that no place refers to; each is referred to once at most. It is cheaper than `positions` the other way."""
    if len(places) == rows and not places.null_count:  # each place is another row
        return pa.array(np.zeros(rows, dtype=np.bool_))
    mask = np.ones(rows + 1, dtype=np.bool_)
    mask[places.fill_null(rows).to_numpy()] = False  # the one past the last is for those without a place
    return pa.array(mask[:rows])


def merged(one: pa.Table, other: pa.Table) -> pa.Table:
    """The rows of both, which ascend by SKU and have no SKU in common."""
    before = pc.search_sorted(column(one, "sku"), column(other, "sku")).to_numpy().astype(np.int64)
    rows = np.insert(np.arange(one.num_rows), before, np.arange(one.num_rows, one.num_rows + other.num_rows))
    return pa.concat_tables([one, other]).combine_chunks().take(pa.array(rows))


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
    if wanted.equals(other):
        return pa.array(np.zeros(len(wanted), dtype=np.bool_))
    return pc.and_(wanted.is_valid(), pc.invert(equal(wanted, other)))


def any_of(masks: Iterable[pa.Array]) -> pa.Array:
    """Rows of which any mask is true; at least one mask."""
    return reduce(pc.or_, masks)


def picked(mask: pa.Array) -> Callable[[pa.Array], pa.Array]:
    """What takes the rows of this mask (without nulls) from a column: few are gathered by their numbers, and all are not copied."""
    rows = mask.true_count
    if rows == len(mask):
        return lambda values: values
    if rows * 8 > len(mask):
        return lambda values: values.filter(mask)
    numbers = pc.indices_nonzero(mask)
    return lambda values: values.take(numbers)


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
