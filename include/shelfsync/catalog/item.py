"""Product update items as JSON text (interface.md 2.1), a column of texts at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from shelfsync.catalog import jsontext
from shelfsync.catalog.alignment import column
from shelfsync.errors import DataError

if TYPE_CHECKING:
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
    members = [
        _member(',"price":', column(items, "price"), opens='"'),
        _member(',"quantity":', column(items, "quantity")),
        _member(',"active":', column(items, "active")),
        _member(f',"{sales_limit_name}":', column(items, "max_sales_quantity"), ends="},"),
    ]
    return pc.binary_join_element_wise(f'{{"{key}":"', jsontext.escaped(keys), *members, "")


def _member(name: str, values: pa.Array, *, opens: str = "", ends: str = "") -> pa.Array | str:
    """The text of one member in every row, between `opens` and `ends`; a row that does not say it has those alone.

    Written once for each distinct value: a shelf has few prices and few counts, and writing a decimal costs more than looking it up.
    """
    if values.null_count == len(values):
        return opens + ends
    coded = values.dictionary_encode(null_encoding="encode")
    texts = pc.binary_join_element_wise(opens + name, _shortest(coded.dictionary), ends, "")
    return texts.fill_null(opens + ends).take(coded.indices)


def _shortest(values: pa.Array) -> pa.Array:
    """The text of each value; a price in as few bytes as can be: 4.500 as 4.5, 4.000 as 4."""
    texts = values.cast(pa.string())
    if pa.types.is_decimal(values.type):
        texts = pc.ascii_rtrim(pc.ascii_rtrim(texts, characters="0"), characters=".")
    return texts
