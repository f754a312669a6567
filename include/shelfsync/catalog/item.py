"""Product update items as JSON text (interface.md 2.1), a column of texts at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import jsontext
from shelfsync.catalog.alignment import column
from shelfsync.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal


def texts(items: pa.Table, *, key: Literal["sku", "barcode"], sales_limit_name: str) -> pa.Array:
    """One text a row, `{"sku":"…","price":4.5,…},` with a comma behind it; a null field is absent.

    The order of the members is key, price, quantity, active, sales limit. A DataError names the first SKU without a key.
    """
    keys = column(items, key)
    if keys.null_count:
        sku = items["sku"].filter(keys.is_null())[0].as_py()
        raise DataError(
            f"batch: SKU {sku!r} has no {key}, and items are called by it; give it one in the ERP or set SHELFSYNC_PLATFORM__KEY"
        )
    parts: list[pa.Array | str] = [f'{{"{key}":"', jsontext.escaped(keys), '"']
    parts += _member(',"price":', column(items, "price"), _shortest)
    parts += _member(',"quantity":', column(items, "quantity"), _text)
    parts += _member(',"active":', column(items, "active"), _text)
    parts += _member(f',"{sales_limit_name}":', column(items, "max_sales_quantity"), _text)
    return pc.binary_join_element_wise(*parts, "},", "", null_handling="replace", null_replacement="")


def _member(name: str, values: pa.Array, write: Callable[[pa.Array], pa.Array]) -> list[pa.Array | str]:
    """The parts that write one member: none where no row says it, so that a sparse delta costs what it says."""
    if values.null_count == len(values):
        return []
    if values.null_count == 0:
        return [name, write(values)]
    return [pc.binary_join_element_wise(name, write(values), "")]  # null with its value


def _shortest(prices: pa.Array) -> pa.Array:
    """4.500 as 4.5, 4.000 as 4: the same number in fewer bytes."""
    return pc.ascii_rtrim(pc.ascii_rtrim(prices.cast(pa.string()), characters="0"), characters=".")


def _text(values: pa.Array) -> pa.Array:
    return values.cast(pa.string())
