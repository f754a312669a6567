"""Product update items as JSON text (interface.md 2.1), a column of texts at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shelfsync import invisible_characters
from shelfsync.errors import DataError
from shelfsync.rows.alignment import column

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

RAW_CHARACTERS_MAX = 240
"""How many characters of each value of a quarantined row are stored: eleven values of six bytes a character are less than 16 KiB."""
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_CONTROLS = {chr(code): _SHORT.get(chr(code), f"\\u{code:04x}") for code in range(0x20)}


def escaped(texts: pa.Array) -> pa.Array:
    r"""Each text escaped for a JSON string: UTF-8 kept, only `"`, `\` and controls escaped; null stays null."""
    if not _special(texts):
        return texts
    texts = pc.replace_substring(texts, "\\", "\\\\")  # first: the other escapes bring backslashes of their own
    texts = pc.replace_substring(texts, '"', '\\"')
    if _any(pc.match_substring_regex(texts, r"[\x00-\x1f]")):
        for control, escape in _CONTROLS.items():
            texts = pc.replace_substring(texts, control, escape)
    return texts


def quoted(texts: pa.Array) -> pa.Array:
    """Each text as a JSON string with its quotes; null stays null."""
    return pc.binary_join_element_wise('"', escaped(texts), '"', "")


def visible(texts: pa.Array) -> pa.Array:
    r"""JSON strings with every character that cannot be seen as `\u00a0`."""
    if pc.all(pc.ascii_is_printable(texts), min_count=0).as_py():
        return texts
    unseen = pc.unique(pc.replace_substring_regex(texts, f"[^{invisible_characters.UNSEEN}\\x7f-\\x9f]", ""))
    for character in sorted(set("".join(unseen.drop_null().to_pylist()))):
        texts = pc.replace_substring(texts, character, invisible_characters.escape(character))
    return texts


def objects(names: Sequence[str], columns: Sequence[pa.Array], *, longest: int | None = None) -> pa.Array:
    """One JSON object a row, its members in the order of `names`; columns of text become strings, of whole numbers numbers, null null.

    `longest`: a text of more characters is cut there and ends in "…", so that a row takes no more than it is worth.
    """
    if longest is not None:
        columns = [_cut(texts, longest) for texts in columns]
    parts: list[pa.Array | str] = []
    between = "{"
    for name, texts in zip(names, columns, strict=True):
        between += _string(name) + ":"
        if pa.types.is_string(texts.type) and not texts.null_count:  # the quotes stand in what is the same for all rows
            parts += [between + '"', escaped(texts)]
            between = '",'
        else:
            text = quoted(texts) if pa.types.is_string(texts.type) else texts.cast(pa.string())
            parts += [between, text.fill_null("null")]
            between = ","
    return pc.binary_join_element_wise(*parts, between.removesuffix(",") + "}", "")


def _cut(column: pa.Array, longest: int) -> pa.Array:
    if not pa.types.is_string(column.type):
        return column
    long = pc.greater(pc.utf8_length(column), longest)
    if not _any(long):
        return column
    return pc.if_else(long, pc.binary_join_element_wise(pc.utf8_slice_codeunits(column, 0, longest), "…", ""), column)


def _string(text: str) -> str:
    return str(quoted(pa.array([text], pa.string()))[0].as_py())


def _special(texts: pa.Array) -> bool:
    """Whether any byte of the whole column needs an escape; bytes of other characters never look like one in UTF-8."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return False
    ends = np.frombuffer(offsets, dtype=np.int32)
    bytes_of_all = np.frombuffer(data, dtype=np.uint8)[ends[texts.offset] : ends[texts.offset + len(texts)]]
    return bool(((bytes_of_all < 0x20) | (bytes_of_all == ord('"')) | (bytes_of_all == ord("\\"))).any())


def _any(mask: pa.Array) -> bool:
    return bool(pc.any(mask).as_py())


def texts(items: pa.Table, *, key: Literal["sku", "barcode"], sales_limit_name: str) -> pa.Array:
    """One text a row, `{"sku":"…","price":4.5,…},` with a comma behind it; a null field is absent.

    The order of the members is key, price, quantity, active, sales limit. A DataError names the first SKU without a key.
    """
    keys = column(items, key)
    if keys.null_count:
        sku = items["sku"].filter(keys.is_null())[0].as_py()
        raise DataError(
            f"batch: SKU {sku!r} has no {key}, which identifies the items; give it one in the ERP or set SHELFSYNC_PLATFORM__ITEM_KEY"
        )
    members = [
        _member(',"price":', column(items, "price"), opens='"'),
        _member(',"quantity":', column(items, "quantity")),
        _member(',"active":', column(items, "active")),
        _member(f',"{sales_limit_name}":', column(items, "max_sales_quantity"), ends="},"),
    ]
    return pc.binary_join_element_wise(f'{{"{key}":"', escaped(keys), *members, "")


def _member(name: str, values: pa.Array, *, opens: str = "", ends: str = "") -> pa.Array | str:
    """The text of one member in every row, between `opens` and `ends`; a row without a value has `opens` and `ends` alone.

    Written once for each distinct value: a store has few distinct prices and counts, and to write a decimal costs more than to look it up.
    """
    if values.null_count == len(values):
        return opens + ends
    coded = values.dictionary_encode(null_encoding="encode")
    texts = pc.binary_join_element_wise(opens + name, shortest(coded.dictionary), ends, "")
    return texts.fill_null(opens + ends).take(coded.indices)


def shortest(values: pa.Array) -> pa.Array:
    """The text of each value; a price in as few characters as can be: 4.500 as 4.5, 4.000 as 4."""
    texts = values.cast(pa.string())
    if pa.types.is_decimal(values.type):
        texts = pc.ascii_rtrim(pc.ascii_rtrim(texts, characters="0"), characters=".")
    return texts
